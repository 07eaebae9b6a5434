/** Recorded requests built again, and whether one request continues another. */
import assert from "node:assert/strict";
import { encodeUtf8 } from "../../../src/domain/bytes.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { ModelTurn, Turn } from "../../../src/domain/turn.ts";
import { FOLD_VERSION } from "../../../src/fold/fold.ts";
import { prefixReport, rebuiltBody, verifySession } from "../../../src/run/verify.ts";
import { Stop } from "../../../src/run/outcome.ts";
import {
  answer,
  message,
  reasoning,
  type Script,
  startResponsesServer,
} from "../../support/responses_server.ts";
import { functionCall } from "../../support/responses_server/script.ts";
import { reasoningOf, REFUSAL_SHAPES, refuse } from "../../support/responses_server/refusing.ts";
import { History, message as messageItem, reasoning as reasoningItem } from "../../support/history.ts";
import { refusedSession } from "./refusing.ts";

const bodyWith = (fields: object, input: readonly unknown[]) => JSON.stringify({ ...fields, input });

Deno.test("a body that continues another one extends it, whatever else follows", () => {
  const before = bodyWith({ model: "m" }, [{ a: 1 }, { b: "ü" }]);
  assert.deepEqual(prefixReport(before, before), { extends: true });
  assert.deepEqual(prefixReport(before, bodyWith({ model: "m" }, [{ a: 1 }, { b: "ü" }, { c: 1 }])), {
    extends: true,
  });
});

Deno.test("a body whose last message has more content extends another, and one with other content does not", () => {
  const said = (...texts: readonly string[]) => [{ role: "user", content: texts.map((text) => ({ text })) }];
  const before = bodyWith({ model: "m" }, said("one"));
  assert.deepEqual(prefixReport(before, bodyWith({ model: "m" }, said("one", "two"))), { extends: true });
  assert.equal(prefixReport(before, bodyWith({ model: "m" }, said("two", "one"))).extends, false);
});

Deno.test("requests of other clients are compared although their input is a text or missing", () => {
  const body = (input?: string) => JSON.stringify({ model: "m", input, store: false });
  assert.deepEqual(prefixReport(body("one"), body("two")), { extends: false, item: 0, byte: 22 });
  assert.deepEqual(prefixReport(body("one"), body()), { extends: false, item: 0, byte: 14 });
});

Deno.test("the first item and the first byte that differ are reported", () => {
  const cases: readonly (readonly [string, string, number | null])[] = [
    // Characters of several bytes before the difference.
    [bodyWith({}, [{ a: "üü" }, { b: 1 }]), bodyWith({}, [{ a: "üü" }, { b: 2 }]), 1],
    // Two characters beyond the BMP, of one high surrogate, whose third byte differs.
    [bodyWith({}, [{ a: "\u{1f600}" }]), bodyWith({}, [{ a: "\u{1f640}" }]), 0],
    [bodyWith({}, [{ a: 1 }, { b: 1 }]), bodyWith({}, [{ a: 1 }]), 1],
    [bodyWith({}, [{ a: 1 }, { b: 1 }]), bodyWith({}, []), 0],
    [bodyWith({ model: "m" }, [{ a: 1 }]), bodyWith({ model: "n" }, [{ a: 1 }]), null],
    // A field holds the word that opens the history as well.
    [
      bodyWith({ tools: [{ "input": ["x"] }], model: "m" }, [1]),
      bodyWith({ tools: [{ "input": ["x"] }], model: "n" }, [2]),
      null,
    ],
  ];
  for (const [before, next, item] of cases) {
    const [old, now] = [before, next].map((body) => new TextEncoder().encode(body)) as [
      Uint8Array,
      Uint8Array,
    ];
    const byte = old.findIndex((value, index) => value !== now[index]);
    assert.deepEqual(prefixReport(before, next), { extends: false, item, byte });
  }
});

Deno.test("requests of an older fold are compared, but for those whose history is folded otherwise now", () => {
  const reasoned = (id: string) => [reasoningItem(id), messageItem(`msg_${id}`, "Done.")];
  const history = new History().user("Go").model(reasoned("rs_1")).user("On").model(reasoned("rs_1"))
    .user("On").model(reasoned("rs_2"));
  const source = (turns: readonly Turn[]) => ({ turns, readBlob: () => encodeUtf8("[]") });
  const recorded = (fold: number, alter = "") =>
    history.turns.map((turn): Turn => {
      if (turn.kind !== "model") return turn;
      const sum = sha256Hex(rebuiltBody(turn, source(history.turns)) + alter);
      return { ...turn, request: { ...turn.request, body_sha256: sum, fold } };
    });
  const verdicts = (turns: readonly Turn[]) => verifySession(source(turns)).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts(recorded(1)), ["same", "same", "other_fold_version"]);
  assert.deepEqual(verdicts(recorded(1, "edited")), ["differs", "differs", "other_fold_version"]);
  assert.deepEqual(verdicts(recorded(2)), ["same", "same", "same"]);
});

Deno.test("a request of a version that knew no ports is not judged where ports decide", () => {
  const reasoned = (id: string) => [reasoningItem(id), messageItem(`msg_${id}`, "Done.")];
  const history = new History().user("Go").model(reasoned("rs_1")).user("On").model(reasoned("rs_2"))
    .user("On").model(reasoned("rs_3"));
  const [here, portless] = ["11111111", "99999999"];
  const endpoints = [{ endpoint: here, portless }, { endpoint: portless }, { endpoint: here, portless }];
  const turns = history.turns.map((turn, index): Turn => {
    if (turn.kind !== "model") return turn;
    const at = endpoints[(index - 1) / 2] as { readonly endpoint: string };
    return { ...turn, fingerprint: { ...turn.fingerprint, ...at } };
  });
  const source = (turns: readonly Turn[]) => ({ turns, readBlob: () => encodeUtf8("[]") });
  const sealed = turns.map((turn, index): Turn => {
    if (turn.kind !== "model") return turn;
    // The older version took the portless endpoint for another one, and left all reasoning out.
    const mode = index === 3 ? "none" : "exact";
    const replay = { mode, window: null, account: null };
    const as = { ...turn, request: { ...turn.request, replay } } as ModelTurn;
    const sum = sha256Hex(rebuiltBody(as, source(turns)) ?? "");
    const fold = index === 3 ? 1 : 2;
    return { ...turn, request: { ...turn.request, body_sha256: sum, fold } };
  });
  const verdicts = verifySession(source(sealed)).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts, ["same", "other_fold_version", "same"]);
});

Deno.test("another fold's requests are not judged", () => {
  const history = new History().user("Go").model([messageItem("msg_1", "Done.")]);
  const turns = history.turns.map((turn) =>
    turn.kind === "model"
      ? { ...turn, request: { ...turn.request, fold: FOLD_VERSION + 1 } } as ModelTurn
      : turn
  );
  const [only] = verifySession({ turns, readBlob: () => encodeUtf8("[]") });
  assert.deepEqual([only?.verdict, only?.refolded], ["other_fold_version", null]);
});

for (const shape of REFUSAL_SHAPES) {
  Deno.test(`requests of every kind fold to the bytes that were sent (refusals: ${shape})`, async () => {
    let refusing = false;
    const script: Script = (request) => {
      const { include } = request.body as { include?: unknown };
      if (refusing && reasoningOf(request).length > 0) {
        return refuse({ message: "The encrypted content gAAA...DQ== could not be verified." }, shape);
      }
      if (refusing && include !== undefined && request.input.length > 12) {
        return refuse({ message: "Encrypted content is not supported with this model." }, shape);
      }
      return answer([reasoning("a"), reasoning("b"), message("Done.")]);
    };
    await refusedSession({ script, rules: "none" }, async ({ run, verdicts, turns, findings }) => {
      await run("One");
      await run("Two", { maxTokens: 5000, effort: "high", summary: "auto" });
      refusing = true;
      await run("Refused");
      await run("Refused again");
      refusing = false;
      await run("Windowed", { window: 1 });
      await run("Family", { replay: "family", model: "gpt-5.6-mini" });
      await run("Off", { replay: "none" });
      await run("Elsewhere", { endpoint: "00000000", instructions: "Be loud." });
      const stop = new Stop();
      stop.request("SIGINT");
      assert.equal((await run("Stopped", { stop })).ended.state, "interrupted");
      assert.equal((await run(null)).ended.state, "completed");
      const models = turns().filter(({ kind }) => kind === "model");
      assert.ok(models.length >= 9);
      assert.deepEqual(new Set(verdicts()), new Set(["same"]));
      assert.deepEqual(await findings(), []);
    });
  });
}

Deno.test("an account that became known within a run is part of what folds again", async () => {
  const script: Script = ({ input }) =>
    input.at(-1)?.role === "user"
      ? answer([reasoning(), functionCall("unknown", {})])
      : answer([reasoning(), message("Done.")]);
  await using other = startResponsesServer({ script, organization: "org-other", rules: "none" });
  await refusedSession({ script }, async ({ run, sendingTo, turns, verdicts }) => {
    await run("One");
    await run("Two", sendingTo(other));
    const reasons = turns().flatMap((turn) =>
      turn.kind === "model" ? [turn.request.guard.dropped.map(({ reason }) => reason)] : []
    );
    assert.deepEqual(reasons, [[], [], [], ["other_account", "other_account"]]);
    assert.deepEqual(new Set(verdicts()), new Set(["same"]));
  });
});

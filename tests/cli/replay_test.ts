/** Refused reasoning over several processes: mended once, told, kept on disk, lifted again. */
import assert from "node:assert/strict";
import type { RunEvent } from "../../src/run/events.ts";
import { answer, functionCall, message, reasoning, type Script } from "../support/responses_server.ts";
import { reasoningIds, type RefusalShape, refuse } from "../support/responses_server/refusing.ts";
import { ending, events } from "../support/reprise.ts";
import { assertError, Place, together, until } from "./harness.ts";

const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);

/** Refuses every request that holds the first reasoning item of all, naming it or not. */
function refusesFirst(options: { readonly named: boolean; readonly shape: RefusalShape }): Script {
  let bad: string | undefined;
  return (request) => {
    bad ??= reasoningIds(request)[0];
    if (bad === undefined || !reasoningIds(request).includes(bad)) return TWO;
    const item = options.named ? `for item ${bad} ` : "gAAA...DQ== ";
    return refuse({
      message: `The encrypted content ${item}could not be verified.`,
      code: "invalid_encrypted_content",
    }, options.shape);
  };
}

/** One run; gives its events and how many reasoning items each of its requests held. */
async function run(place: Place, words: string): Promise<{ all: RunEvent[]; sent: number[] }> {
  const first = place.server.requests.length;
  const fresh = first === 0 ? ["--new"] : [];
  const called = await place.call(["run", "--json", ...fresh, "-s", "s", words]);
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  assert.equal(ending(called).state, "completed");
  return {
    all: events(called),
    sent: place.server.requests.slice(first).map((request) => reasoningIds(request).length),
  };
}

async function explain(place: Place) {
  return JSON.parse((await place.call(["explain", "s", "--json"])).stdout);
}

async function assertSound(place: Place): Promise<void> {
  const checked = await place.call(["fsck", "s", "--json"]);
  assert.equal(checked.code, 0, checked.stdout);
  const verified = await place.call(["verify", "s"]);
  assert.equal(verified.code, 0, verified.stdout);
}

together("a refused item is left out once, and a new process does not meet it again", {
  "named, over HTTP": async () => {
    await using place = new Place(refusesFirst({ named: true, shape: "http" }), { rules: "none" });
    await run(place, "One");
    const second = await run(place, "Two");
    assert.deepEqual(second.sent, [2, 0]);
    const notice = second.all.find((event) => event.type === "notice" && event.kind === "replay_stripped");
    const requests = second.all.filter((event) => event.type === "request");
    assert.deepEqual(requests.map(({ again }) => again), [undefined, true]);
    const order = second.all.filter((event) =>
      event === notice || event.type === "request" || event.type === "turn.saved"
    ).map((event) => event.type);
    assert.deepEqual(order.slice(0, 5), ["turn.saved", "request", "turn.saved", "notice", "request"]);
    assert.deepEqual((await run(place, "Three")).sent, [3]);
    const story = await explain(place);
    assert.deepEqual(
      story.refusals.map(({ run, reason }: { run: number; reason: string }) => [run, reason]),
      [[2, "reasoning_refused"]],
    );
    assert.match(story.refusals[0].error, /could not be verified/);
    const first = story.reasoning[0];
    assert.deepEqual([first.sent, first.reason], [false, "quarantined"]);
    assert.match(first.why, /--lift-quarantine/);
    const text = (await place.call(["explain", "s"])).stdout;
    assert.match(text, /run 2 {2}reasoning_refused \(seq 2 quarantined, seq 3 left_out\): The API refused/);
    await assertSound(place);
  },
  "named, in the stream": async () => {
    await using place = new Place(refusesFirst({ named: true, shape: "error_then_failed" }), {
      rules: "none",
    });
    await run(place, "One");
    assert.deepEqual((await run(place, "Two")).sent, [2, 0]);
    assert.deepEqual((await run(place, "Three")).sent, [3]);
    await assertSound(place);
  },
  "unnamed: tried once more in the next process, then kept out": async () => {
    await using place = new Place(refusesFirst({ named: false, shape: "http" }), { rules: "none" });
    await run(place, "One");
    assert.deepEqual((await run(place, "Two")).sent, [2, 0]);
    assert.equal((await explain(place)).reasoning[0].sent, true, "the next run tries it again");
    assert.deepEqual((await run(place, "Three")).sent, [4, 0]);
    assert.equal((await explain(place)).reasoning[0].reason, "quarantined");
    assert.deepEqual((await run(place, "Four")).sent, [4]);
    await assertSound(place);
  },
  "include, for this endpoint and model only": async () => {
    const script: Script = ({ body }) => {
      const { include, model } = body as { include?: unknown; model: string };
      return include !== undefined && model === "gpt-4.1"
        ? refuse({ message: "Encrypted content is not supported with this model.", param: "include" }, "http")
        : answer([message("Done.")]);
    };
    await using place = new Place(script);
    const asked = async (args: readonly string[]) => {
      const first = place.server.requests.length;
      assert.equal((await place.call(["run", "--json", "-s", "s", ...args, "Go"])).code, 0);
      return place.server.requests.slice(first).map(({ body }) =>
        (body as { include?: unknown }).include !== undefined
      );
    };
    assert.deepEqual(await asked(["--new", "-m", "gpt-4.1"]), [true, false]);
    assert.deepEqual(await asked([]), [false]);
    assert.deepEqual(await asked(["-m", "gpt-5.6"]), [true]);
    assert.deepEqual(await asked(["-m", "gpt-4.1", "--base-url", `${place.server.baseUrl}/other`]), [
      true,
      false,
    ]);
    const { refusals } = await explain(place);
    assert.deepEqual(refusals.map(({ reason }: { reason: string }) => reason), [
      "include_refused",
      "include_refused",
    ]);
    assert.match((await place.call(["explain", "s"])).stdout, /include_refused: The API refused/);
    await assertSound(place);
  },
  "a kill before the retry is answered: the next process knows what was refused": async () => {
    let stalls = true;
    const refusing = refusesFirst({ named: true, shape: "http" }) as Exclude<Script, readonly unknown[]>;
    const script: Script = (request) =>
      stalls && request.number === 3 ? answer([], { end: { kind: "stall" } }) : refusing(request);
    await using place = new Place(script, { rules: "none" });
    await run(place, "One");
    const started = place.start(["run", "--json", "-s", "s", "Two"]);
    await until(() => place.server.requests.length === 3, "the retry");
    started.process.kill("SIGKILL");
    await started.ended();
    stalls = false;
    assert.equal((await place.call(["run", "--json", "-s", "s"])).code, 0);
    const sent = place.server.requests.slice(1).map((request) => reasoningIds(request).length);
    assert.deepEqual(sent, [2, 0, 1], "refused, retried, and gone on with without the named one");
    await assertSound(place);
  },
  "a second refusal ends the run with the API's words": async () => {
    const script: Script = ({ input }) =>
      input.length === 1
        ? TWO
        : refuse({ message: "The encrypted content gAAA...DQ== could not be verified." }, "http");
    await using place = new Place(script, { rules: "none" });
    await run(place, "One");
    const called = await place.call(["run", "--json", "-s", "s", "Two"]);
    assertError(called, { code: "request_refused", exit: 13, says: /could not be verified/ });
    assert.equal(place.server.requests.length, 3);
    await assertSound(place);
  },
});

/** A session with a quarantined item. */
async function quarantined(place: Place): Promise<void> {
  await run(place, "One");
  await run(place, "Two");
}

const NAMED = { named: true, shape: "http" } as const;

together("repair --lift-quarantine sends a refused item again", {
  "once it is lifted, and never before": async () => {
    let mended = false;
    const refusing = refusesFirst(NAMED) as Exclude<Script, readonly unknown[]>;
    await using place = new Place((request) => mended ? TWO : refusing(request), { rules: "none" });
    await quarantined(place);
    const before = place.sandbox.turnNames("s");
    const foretold = await place.call(["repair", "s", "--lift-quarantine", "--dry-run", "--json"]);
    assert.deepEqual(JSON.parse(foretold.stdout), { session: "s", lifted: [2], dry_run: true });
    assert.deepEqual(place.sandbox.turnNames("s"), before);
    const lifted = await place.call(["repair", "s", "--lift-quarantine", "--json"]);
    assert.equal(lifted.code, 0, lifted.stderr);
    assert.deepEqual(JSON.parse(lifted.stdout), { session: "s", lifted: [2], dry_run: false });
    await assertSound(place);
    mended = true;
    assert.deepEqual((await run(place, "Three")).sent, [4]);
    const again = await place.call(["repair", "s", "--lift-quarantine"]);
    assert.equal(again.stdout, "s: 0 quarantined items lifted\n");
    await assertSound(place);
  },
  "not for a session that is not there": async () => {
    await using place = new Place(refusesFirst(NAMED), { rules: "none" });
    await run(place, "One");
    const missing = await place.call(["repair", "none", "--lift-quarantine", "--json"]);
    assertError(missing, { code: "no_such_session", exit: 2 });
  },
  "not while another process writes; after a kill it closes that run first": async () => {
    let stalls = false;
    const refusing = refusesFirst(NAMED) as Exclude<Script, readonly unknown[]>;
    const stalling = answer([functionCall("read_file", { path: "a.txt", offset: null, limit: null })], {
      end: { kind: "stall" },
    });
    await using place = new Place((request) => stalls ? stalling : refusing(request), { rules: "none" });
    await quarantined(place);
    stalls = true;
    const requests = place.server.requests.length;
    const started = place.start(["run", "--json", "-s", "s", "Three"]);
    await until(() => place.server.requests.length > requests, "the request");
    const locked = await place.call(["repair", "s", "--lift-quarantine", "--json"]);
    assertError(locked, { code: "session_locked", exit: 5 });
    const foretold = await place.call(["repair", "s", "--lift-quarantine", "--dry-run", "--json"]);
    assert.deepEqual(JSON.parse(foretold.stdout).lifted, [2]);
    started.process.kill("SIGKILL");
    await started.ended();
    assert.equal((await place.call(["repair", "s", "--lift-quarantine"])).code, 0);
    const last = place.sandbox.turns("s").slice(-2).map(({ events }) => events.at(-1));
    assert.deepEqual(last.map(({ type }) => type), ["run_ended", "replay_notice"]);
    assert.deepEqual([last[0].state, last[1].reason], ["interrupted", "quarantine_lifted"]);
    await assertSound(place);
    stalls = false;
    assert.equal((await place.call(["run", "--json", "-s", "s"])).code, 0, "the killed run can still go on");
    await assertSound(place);
  },
});

import assert from "node:assert/strict";
import type { Item, Omission } from "../../../src/domain/event.ts";
import { fingerprintText } from "../../../src/domain/fingerprint.ts";
import type { DropReason } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget, ReplayMode } from "../../../src/fold/guard.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { retryEventOf } from "../../../src/run/refusals.ts";
import { call, FINGERPRINT, History, message, MODEL, reasoning, TARGET } from "../../support/history.ts";
import { randomCase } from "./random_history.ts";
import { test } from "../../support/test.ts";

/** Mode, model that was asked, model that answered, model now, and why the reasoning stays out. */
const MODELS: readonly (readonly [ReplayMode, string, string | null, string, DropReason | null])[] = [
  ["exact", "gpt-5.6", null, "gpt-5.6", null],
  ["exact", "gpt-5.6", null, "gpt-5.6-mini", "other_model"],
  ["exact", "latest", "gpt-5.6-2026-08-01", "gpt-5.6-2026-08-01", null],
  // The snapshot is of the model's family, yet another name than either of the two.
  ["exact", "latest", "gpt-5.6-2026-08-01", "gpt-5.6", "other_model"],
  ["family", "gpt-5.6", null, "gpt-5.6-mini", null],
  ["family", "latest", "gpt-5.6-2026-08-01", "gpt-5.6", null],
  ["family", "gpt-5.5", null, "gpt-5.6", "other_model"],
  // A name that the table does not know fits itself alone.
  ["family", "unheard-of", null, "unheard-of", null],
  ["family", "unheard-of", null, "unheard-of-mini", "other_model"],
  ["none", "gpt-5.6", null, "gpt-5.6", "replay_off"],
];

for (const [replay, asked, answered, model, reason] of MODELS) {
  const issued = answered === null ? asked : `${asked} (answered by ${answered})`;
  Deno.test(`guard ${replay}: reasoning of ${issued} for ${model} is ${reason ?? "sent"}`, () => {
    const history = new History().user("x").model([reasoning("rs_1"), message("msg_1", "a")], {
      asked,
      answered,
    });
    const [decision] = foldHistory(history.turns, { ...TARGET, replay, model }).reasoning;
    assert.equal(decision?.reason, reason);
  });
}

Deno.test("another endpoint or account outweighs a fitting model, and the family mode does not soften them", () => {
  const reasonAt = (issued: Partial<typeof FINGERPRINT>, now: Partial<typeof FINGERPRINT>) => {
    const history = new History().user("x")
      .model([reasoning("rs_1"), message("msg_1", "a")], { fingerprint: issued, asked: "gpt-5.5" });
    const target: FoldTarget = { ...TARGET, replay: "family", fingerprint: { ...FINGERPRINT, ...now } };
    return foldHistory(history.turns, target).reasoning[0]?.reason;
  };
  assert.equal(reasonAt({ endpoint: "ffffffff" }, {}), "other_endpoint");
  assert.equal(reasonAt({ account: "a" }, { account: "b" }), "other_account");
  assert.equal(reasonAt({}, {}), "other_model");
});

Deno.test("a hosted item of another endpoint or account is not sent, of another model it is", () => {
  const search: Item = { id: "ws_1", type: "web_search_call", status: "completed", action: {} };
  const history = new History().user("x").model([search, message("msg_1", "a")]);
  const reasons = (target: Partial<FoldTarget>) =>
    foldHistory(history.turns, { ...TARGET, ...target }).dropped.map(({ reason }) => reason);
  assert.deepEqual(reasons({ fingerprint: { ...FINGERPRINT, endpoint: "ffffffff" } }), ["other_endpoint"]);
  assert.deepEqual(reasons({ model: "gpt-5.5" }), []);
});

Deno.test("a fingerprint is written provider, model asked, endpoint", () => {
  assert.equal(fingerprintText(FINGERPRINT, MODEL), "openai:gpt-5.6:1f3a9c02");
});

Deno.test("turns that carry reasoning are never merged: what follows in another turn follows nothing", () => {
  const history = new History().user("x").model([reasoning("rs_1")], { status: "interrupted" })
    .model([message("msg_1", "a")]);
  const { dropped, entries } = foldHistory(history.turns, TARGET);
  assert.deepEqual(dropped, [{ seq: 2, reason: "no_following_item" }]);
  assert.ok(entries.every((entry) => entry.kind !== "assistant_message" || !entry.keepId));
});

Deno.test("only the whitelisted members of reasoning go out, an empty summary among them", () => {
  const item: Item = {
    ...reasoning("rs_1"),
    content: [],
    status: "completed",
    created_by: "someone",
    extra: { deep: 1 },
  };
  const { summary: _, ...bare } = item;
  for (const stored of [item, bare as Item]) {
    const history = new History().user("x").model([stored, message("msg_1", "a")]);
    const { entries } = foldHistory(history.turns, TARGET);
    const input = JSON.parse(responsesApi.bodyOf({ model: MODEL }, entries)).input;
    assert.deepEqual(input[1], {
      id: "rs_1",
      type: "reasoning",
      summary: [],
      encrypted_content: "gAAA-rs_1",
    });
  }
});

Deno.test("a call id that is longer than OpenAI takes is cut on the wire, and two alike stay two", () => {
  const ids = [`${"c".repeat(70)}1`, `${"c".repeat(70)}2`];
  const history = new History().user("x").model(ids.map((id) => call(id))).results();
  const { entries, repairs } = foldHistory(history.turns, TARGET);
  const sent = entries.flatMap((entry) => entry.kind === "tool_call" ? [entry.callId] : []);
  assert.equal(new Set(sent).size, 2);
  assert.ok(sent.every((id) => id.length <= 64));
  assert.deepEqual(entries.flatMap((entry) => entry.kind === "tool_result" ? [entry.callId] : []), sent);
  assert.deepEqual(repairs.map(({ kind }) => kind), ["call_id_renamed", "call_id_renamed"]);
  assert.equal(call("c".repeat(64)).call_id, "c".repeat(64));
  const fitting = foldHistory(new History().user("x").model([call("c".repeat(64))]).results().turns, TARGET);
  assert.deepEqual(fitting.repairs, []);
});

test.long("a repaired request holds no reasoning of the refused one, and there is nothing to repair a second time", () => {
  let repaired = 0;
  for (let seed = 0; seed < 1000; seed++) {
    const { turns, target } = randomCase(seed);
    const { run = 1 } = target;
    const refused = foldHistory(turns, target);
    const sent = refused.reasoning.filter(({ reason }) => reason === null);
    const named = seed % 2 === 0 ? sent.slice(0, 1) : [];
    const request = {
      fingerprint: target.fingerprint,
      model: "",
      without: new Set<Omission>(),
      error: { code: "request_refused", message: "" },
      widest: true,
    } as const;
    const refusal = { kind: "reasoning", ids: named.map(({ id }) => String(id)), index: null } as const;
    const event = retryEventOf(refusal, { ...request, folded: refused, turns, run });
    assert.equal(event === null, sent.length === 0, `seed ${seed}`);
    if (event === null) continue;
    repaired++;
    const [last] = turns.slice(-1);
    const seq = (last?.seq[1] ?? 0) + 1;
    const notice = { ...last, kind: "harness", run, seq: [seq, seq], events: [{ seq, ...event }] };
    const after = [...turns, notice as unknown as typeof turns[number]];
    const again = foldHistory(after, target);
    assert.ok(again.reasoning.every(({ reason }) => reason !== null), `seed ${seed}`);
    assert.equal(retryEventOf(refusal, { ...request, folded: again, turns: after, run }), null);
    // In the next run, those that were named stay out.
    const next = foldHistory(after, { ...target, run: run + 1 });
    const back = next.reasoning.filter(({ reason }) => reason === null).map(({ seq }) => seq);
    for (const { seq } of named) assert.ok(!back.includes(seq), `seed ${seed}`);
  }
  assert.ok(repaired > 200, `only ${repaired} requests held reasoning`);
});

import assert from "node:assert/strict";
import type { Item, ReplayAction, ReplayNoticeEvent } from "../../../src/domain/event.ts";
import type { DropReason } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { Folded } from "../../../src/fold/history_fold.ts";
import { leftOutBefore } from "../../../src/fold/overrides.ts";
import { call, FINGERPRINT, History, message, reasoning, TARGET } from "../../support/history.ts";

/** Run 1: user(1), rs_1(2), call(3), result(4), rs_2(5), message(6). */
function firstRun(): History {
  return new History().user("hello")
    .model([reasoning("rs_1"), call("call_1")]).results()
    .model([reasoning("rs_2"), message("msg_1", "done")]);
}

function notice(
  history: History,
  items: readonly ReplayAction[],
  reason: ReplayNoticeEvent["reason"] = "reasoning_refused",
): History {
  return history.add({
    kind: "harness",
    run: history.run,
    events: [{ type: "replay_notice", reason, items }],
  });
}

function reasons(history: History, run: number): (DropReason | null)[] {
  return foldHistory(history.turns, { ...TARGET, run }).reasoning.map(({ reason }) => reason);
}

function kinds({ entries }: Folded): string[] {
  return entries.map(({ kind }) => kind);
}

Deno.test("quarantined reasoning is never sent again, in no run, until it is lifted", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "quarantined" }]);
  assert.deepEqual(reasons(history, 1), ["quarantined", null]);
  assert.deepEqual(reasons(history, 2), ["quarantined", null]);
  assert.deepEqual(reasons(history, 9), ["quarantined", null]);
  notice(history, [{ seq: 2, action: "lifted" }], "quarantine_lifted");
  assert.deepEqual(reasons(history, 9), [null, null]);
  notice(history, [{ seq: 2, action: "quarantined" }]);
  assert.deepEqual(reasons(history, 9), ["quarantined", null]);
});

Deno.test("the call of quarantined reasoning and its result go all the same", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "quarantined" }]);
  assert.deepEqual(kinds(foldHistory(history.turns, TARGET)), [
    "user_message",
    "tool_call",
    "tool_result",
    "reasoning",
    "assistant_message",
  ]);
});

Deno.test("a message goes without its id where its reasoning is quarantined", () => {
  const history = notice(firstRun(), [{ seq: 5, action: "quarantined" }]);
  const last = foldHistory(history.turns, TARGET).entries.at(-1);
  assert.ok(last?.kind === "assistant_message" && !last.keepId);
});

Deno.test("reasoning left out after a refusal stays out for that run alone", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "left_out" }, { seq: 5, action: "left_out" }]);
  assert.deepEqual(reasons(history, 1), ["refused_in_run", "refused_in_run"]);
  assert.deepEqual(reasons(history, 2), [null, null]);
  assert.deepEqual(foldHistory(history.turns, TARGET).dropped, [], "a preview belongs to no run");
});

Deno.test("quarantine outweighs being left out, whichever comes first", () => {
  const both = (first: ReplayAction["action"], then: ReplayAction["action"]) =>
    reasons(notice(notice(firstRun(), [{ seq: 2, action: first }]), [{ seq: 2, action: then }]), 1)[0];
  assert.equal(both("left_out", "quarantined"), "quarantined");
  assert.equal(both("quarantined", "left_out"), "quarantined");
  // Lifting is for what is quarantined: the run in which the API refused continues without.
  assert.equal(both("left_out", "lifted"), "refused_in_run");
});

Deno.test("a call whose pairing the API refused goes with its result and its reasoning, for that run", () => {
  const history = notice(firstRun(), [{ seq: 3, action: "left_out" }], "call_refused");
  const folded = foldHistory(history.turns, { ...TARGET, run: 1 });
  assert.deepEqual(kinds(folded), ["user_message", "reasoning", "assistant_message"]);
  assert.deepEqual(folded.dropped, [
    { seq: 2, reason: "no_following_item" },
    { seq: 3, reason: "call_refused" },
    { seq: 4, reason: "call_refused" },
  ]);
  assert.deepEqual(foldHistory(history.turns, { ...TARGET, run: 2 }).dropped, []);
});

Deno.test("a stripped member stays off its item in every run, beside those stripped before", () => {
  const search: Item = {
    id: "ws_1",
    type: "web_search_call",
    status: "completed",
    action: {},
    extra: 1,
    more: 2,
  };
  const history = new History().user("x").model([reasoning("rs_1"), search, message("msg_1", "a")]);
  notice(history, [{ seq: 3, action: "stripped", field: "extra" }], "unknown_field");
  notice(history, [{ seq: 3, action: "stripped", field: "more" }], "unknown_field");
  for (const run of [1, 2]) {
    const entry = foldHistory(history.turns, { ...TARGET, run }).entries.find(({ kind }) =>
      kind === "provider_item"
    );
    assert.deepEqual(entry, { kind: "provider_item", item: search, omit: ["extra", "more"] });
  }
});

Deno.test("reasoning is sent only with the next item of its response", () => {
  const search: Item = { id: "ws_1", type: "web_search_call", status: "completed", action: {} };
  // rs_1(2) rs_2(3) ws(4) message(5): without rs_2, the search has lost its reasoning, and rs_1 its next item.
  const history = new History().user("x")
    .model([reasoning("rs_1"), reasoning("rs_2"), search, message("msg_1", "a")]);
  notice(history, [{ seq: 3, action: "quarantined" }]);
  const folded = foldHistory(history.turns, TARGET);
  assert.deepEqual(folded.dropped, [
    { seq: 2, reason: "no_following_item" },
    { seq: 3, reason: "quarantined" },
    { seq: 4, reason: "reasoning_dropped" },
  ]);
  assert.deepEqual(folded.entries.map((entry) => entry.kind === "assistant_message" && entry.keepId), [
    false,
    false,
  ]);
});

Deno.test("a call and its output from one response stay together when the reasoning of one of them goes", () => {
  const shell: Item = { id: "sh_1", type: "shell_call", call_id: "c", action: {} };
  const output: Item = { id: "sho_1", type: "shell_call_output", call_id: "c", output: [] };
  const history = new History().user("x")
    .model([reasoning("rs_1"), shell, reasoning("rs_2"), message("msg_1", "a"), output]);
  assert.deepEqual(foldHistory(history.turns, TARGET).dropped, []);
  notice(history, [{ seq: 2, action: "quarantined" }]);
  const folded = foldHistory(history.turns, TARGET);
  assert.deepEqual(kinds(folded), ["user_message", "reasoning", "assistant_message"]);
  assert.deepEqual(folded.dropped.map(({ seq }) => seq), [2, 3, 6]);
});

Deno.test("the output of a hosted call is nothing that reasoning can go with", () => {
  const shell: Item = { id: "sh_1", type: "shell_call", call_id: "c", action: {} };
  const output: Item = { id: "sho_1", type: "shell_call_output", call_id: "c", output: [] };
  const history = new History().user("x").model([shell, reasoning("rs_1"), output, message("msg_1", "a")]);
  const folded = foldHistory(history.turns, TARGET);
  assert.deepEqual(folded.dropped.map(({ seq, reason }) => [seq, reason]), [
    [2, "reasoning_dropped"],
    [3, "no_following_item"],
    [4, "reasoning_dropped"],
  ]);
});

Deno.test("a compaction item goes without its id where its reasoning is dropped", () => {
  const compaction: Item = { id: "cmp_1", type: "compaction", encrypted_content: "gAAA" };
  const history = new History().user("x").model([reasoning("rs_1"), compaction]);
  const entry = () => foldHistory(history.turns, TARGET).entries.at(-1);
  assert.deepEqual(entry(), { kind: "provider_item", item: compaction });
  notice(history, [{ seq: 2, action: "quarantined" }]);
  assert.deepEqual(entry(), { kind: "provider_item", item: compaction, omit: ["id"] });
});

Deno.test("an item that an earlier run left out, without a response since, counts as refused before", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "left_out" }, { seq: 5, action: "left_out" }]);
  assert.deepEqual(
    [...leftOutBefore(history.turns, 1, FINGERPRINT)],
    [],
    "a run's own refusal is no second one",
  );
  assert.deepEqual([...leftOutBefore(history.turns, 2, FINGERPRINT)], [2, 5]);
});

Deno.test("a response of the same run does not clear what that run left out", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "left_out" }]).model([message("msg_2", "b")]);
  assert.deepEqual([...leftOutBefore(history.turns, 2, FINGERPRINT)], [2]);
});

Deno.test("a later response to a request that held the item clears it", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "left_out" }, { seq: 5, action: "left_out" }]);
  history.run = 2;
  respond(history, "completed", [{ seq: 5, reason: "other_model" }]);
  // Item 5 was not in that request: nothing is known about it yet.
  assert.deepEqual([...leftOutBefore(history.turns, 3, FINGERPRINT)], [5]);
});

Deno.test("a response that failed clears nothing", () => {
  const history = notice(firstRun(), [{ seq: 2, action: "left_out" }]);
  history.run = 2;
  respond(history, "failed", []);
  assert.deepEqual([...leftOutBefore(history.turns, 3, FINGERPRINT)], [2]);
});

Deno.test("items of a refused call do not count as refused reasoning", () => {
  const history = notice(firstRun(), [{ seq: 3, action: "left_out" }], "call_refused");
  assert.deepEqual([...leftOutBefore(history.turns, 2, FINGERPRINT)], []);
});

function respond(
  history: History,
  status: string,
  dropped: readonly { readonly seq: number; readonly reason: DropReason }[],
): void {
  history.user("again").add({
    kind: "model",
    run: history.run,
    model: { asked: TARGET.model, answered: null },
    fingerprint: TARGET.fingerprint,
    response: { id: "resp_2", status },
    request: { body_sha256: "0".repeat(64), fold: 1, fields: {}, guard: { sent: 1, dropped } },
    events: [{ type: "assistant_message", item: message("msg_9", "b") }],
  });
}

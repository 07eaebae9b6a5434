import assert from "node:assert/strict";
import { deterministicText } from "../../../src/compaction/deterministic.ts";
import { latestCheckpoint, planOf, scopeOf } from "../../../src/compaction/plan.ts";
import { call, History, message, reasoning, TARGET } from "../../support/history.ts";
import { bodyOf, compacted, withdrawn } from "./support.ts";

const LONG = "What the file says, at length. ".repeat(40);

/** Two runs of six events each and an end: seqs 1-7 and 8-14; each reads a file. */
function twoRuns(): History {
  const history = new History();
  for (const run of [1, 2]) {
    history.run = run;
    history.user(`Task ${run}. ${LONG}`).model([reasoning(`rs_${run}`), call(`call_${run}`)]).results()
      .model([reasoning(`rs_${run}b`), message(`msg_${run}`, `Done ${run}. ${LONG}`)]).ended();
  }
  return history;
}

function planned({ turns }: History, tailEvents: number, run?: number) {
  const target = run === undefined ? TARGET : { ...TARGET, run };
  const scope = scopeOf(turns, { tailEvents, target });
  return planOf(turns, scope, { text: deterministicText(turns, scope), target });
}

Deno.test("the cut is the last end of a turn before the tail", () => {
  const { cut, range, tail } = planned(twoRuns(), 5);
  assert.equal(cut.seq, 8);
  assert.deepEqual(range, { from_turn: 1, to_turn: 6, from_seq: 1, to_seq: 8, events: 8 });
  assert.deepEqual(tail, { asked: 5, events: 6, from_seq: 9 });
  assert.match(cut.why, /Turn 6 is the last to end before the newest 5 events$/);
});

Deno.test("a call and its result stay together, and the plan says why the cut moved", () => {
  const { cut } = planned(twoRuns(), 4);
  assert.equal(cut.seq, 8);
  assert.match(cut.why, /without splitting a group: the call in seq 10 is answered in seq 11/);
});

Deno.test("a call that is still to be answered is never cut off from its result", () => {
  const history = twoRuns();
  history.run = 3;
  history.user("Task 3").model([reasoning("rs_3"), call("call_3")]);
  const { cut } = planned(history, 0, 3);
  assert.equal(cut.seq, 15);
  assert.match(cut.why, /the call in seq 17 has no result yet/);
});

Deno.test("no tail at all leaves the checkpoint alone, or with the prompt of the unfinished run", () => {
  const done = planned(twoRuns(), 0);
  assert.deepEqual([done.after.entries, done.opening_turn, done.tail.from_seq], [1, null, null]);
  const history = twoRuns();
  history.run = 3;
  history.user("Task 3").model([reasoning("rs_3"), call("call_3")]).results();
  const open = planned(history, 0, 3);
  assert.deepEqual([open.after.entries, open.opening_turn], [2, 11]);
  const { turns } = compacted(history.turns, { tailEvents: 0, target: { ...TARGET, run: 3 } });
  assert.ok(
    bodyOf(turns, { ...TARGET, run: 3 }).endsWith('"content":[{"type":"input_text","text":"Task 3"}]}]}'),
  );
});

Deno.test("sizes and drops are those of the request before and after", () => {
  const { before, after, dropped, token_estimate } = planned(twoRuns(), 0);
  assert.ok(after.bytes < before.bytes && before.tokens === Math.ceil(before.bytes / 4));
  assert.match(token_estimate, /bytes \/ 4/);
  assert.deepEqual(dropped, {
    user_message: 2,
    reasoning: 4,
    tool_call: 2,
    tool_result: 2,
    assistant_message: 2,
  });
});

Deno.test("a checkpoint that would shrink nothing, or cover nothing new, is refused", () => {
  const refused = { code: "nothing_to_compact", exitCode: 2 };
  const small = new History().user("Hi").model([message("msg_1", "Hello")]).ended();
  assert.throws(() => planned(small, 80), refused);
  assert.throws(() => planned(small, 0), refused);
  const { turns } = compacted(twoRuns().turns, { tailEvents: 0, target: TARGET });
  assert.throws(() => compacted(turns, { tailEvents: 0, target: TARGET }), refused);
});

Deno.test("a later checkpoint names the one before, and withdrawing it brings that one back", () => {
  const history = twoRuns();
  const first = compacted(history.turns, { tailEvents: 7, target: TARGET });
  const second = compacted(first.turns, { tailEvents: 0, target: TARGET });
  assert.equal(second.event.previous_checkpoint, 15);
  assert.equal(latestCheckpoint(second.turns)?.restored?.seq, 15);
  const back = withdrawn(second.turns);
  assert.equal(bodyOf(back, TARGET), bodyOf(first.turns, TARGET));
  assert.equal(bodyOf(withdrawn(back), TARGET), bodyOf(history.turns, TARGET));
});

Deno.test("a checkpoint copies what was known of endpoints, its predecessor's copies included", () => {
  const notice = { endpoint: "1f3a9c02", model: "gpt-5.6", without: "include" as const };
  const history = twoRuns();
  history.add({ kind: "harness", run: 2, events: [{ type: "endpoint_notice", ...notice }] });
  const first = compacted(history.turns, { tailEvents: 0, target: TARGET });
  assert.deepEqual(first.event.endpoint_notices, [notice]);
  const early = compacted(history.turns, { tailEvents: 2, target: TARGET });
  assert.equal(early.event.endpoint_notices, undefined);
});

import assert from "node:assert/strict";
import { shrink } from "../../../src/compaction/shrink.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { call, History, message, reasoning, TARGET } from "../../support/history.ts";

const LONG = "What the file says, at length. ".repeat(40);
const BOUNDS = { most: 80, least: 2, target: TARGET, elides: true };

/** Thirty runs of three events each: a question, an answer, and the end. */
function thirtyRuns(): History {
  const history = new History();
  for (let run = 1; run <= 30; run++) {
    history.run = run;
    history.user(`Task ${run}. ${LONG}`).model([message(`msg_${run}`, `Done ${run}. ${LONG}`)]).ended();
  }
  return history;
}

/** The newest run ends because the API refused its length. */
function overflowing(history: History): History {
  history.run++;
  return history.user("More").add({
    kind: "harness",
    run: history.run,
    events: [{
      type: "run_ended",
      run: history.run,
      state: "failed",
      exit_code: 11,
      usage: NO_USAGE,
      error: { code: "context_overflow", message: "Too long" },
    }],
  });
}

Deno.test("any gain is enough, so the tail has the requested length", () => {
  const { checkpoint, elided, before, after } = shrink(thirtyRuns().turns, BOUNDS);
  assert.deepEqual([checkpoint?.plan.tail, elided], [{ asked: 80, events: 80, from_seq: 11 }, []]);
  assert.ok(after.tokens < before.tokens && after.tokens > before.tokens / 2);
});

Deno.test("after an overflow the history is halved, by a tail that is halved until that is so", () => {
  const { checkpoint, before, after } = shrink(overflowing(thirtyRuns()).turns, BOUNDS);
  assert.ok(after.tokens <= before.tokens / 2, `${before.tokens} → ${after.tokens}`);
  const { asked, events = 0 } = checkpoint?.plan.tail ?? {};
  assert.deepEqual([asked, events > 2], [80, true]);
});

Deno.test("a short history keeps the newest response if that gains anything, otherwise nothing", () => {
  const history = new History().user(LONG.repeat(3)).model([message("msg_1", LONG)]).ended();
  history.run = 2;
  history.user("And now?").model([message("msg_2", "Done")]).ended();
  assert.equal(shrink(history.turns, { ...BOUNDS, least: 2 }).checkpoint?.plan.tail.events, 2);
  const last = new History().user("Hi").model([message("msg_1", LONG.repeat(3))]).ended();
  assert.equal(shrink(last.turns, { ...BOUNDS, least: 2 }).checkpoint?.plan.tail.events, 0);
});

Deno.test("results are shortened only where the strategy allows it, and only long ones", () => {
  const unseen = (output: string) => {
    const history = new History().user("Read").model([reasoning("rs_1"), call("call_1")]);
    const result = { type: "tool_result", call_id: "call_1", call_seq: 3, tool: "read_file" } as const;
    return history.add({ kind: "tools", run: 1, events: [{ ...result, status: "ok", output }] });
  };
  const { checkpoint, elided, after } = shrink(unseen(LONG.repeat(20)).turns, { ...BOUNDS, least: 4 });
  assert.deepEqual([checkpoint, elided.map(({ result_seq }) => result_seq)], [null, [4]]);
  assert.ok(after.bytes < 4_000);
  const whole = shrink(unseen(LONG.repeat(20)).turns, { ...BOUNDS, least: 4, elides: false });
  assert.deepEqual([whole.elided, whole.checkpoint?.plan.tail.events], [[], 0]);
  assert.throws(() => shrink(unseen("short").turns, { ...BOUNDS, least: 4 }), { code: "nothing_to_compact" });
});

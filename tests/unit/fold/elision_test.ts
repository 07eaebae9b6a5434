/** Results that `compact` shortened: in requests, in the guard of prefix-bound thinking, and under checkpoints. */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { Pins } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { HistoryValidator } from "../../../src/store/read/validate.ts";
import { call, FINGERPRINT, History, message, MODEL, reasoning, TARGET } from "../../support/history.ts";

const PINS: Pins = {
  fingerprint: FINGERPRINT,
  model: MODEL,
  instructions: "0".repeat(64),
  tools: "0".repeat(64),
  permissions: [],
  workspace: "/workspace",
};

/** user(1), rs_1(2), call_1(3), result(4), rs_2(5), call_2(6), result(7). */
function history(): History {
  return new History().user("Task").model([reasoning("rs_1"), call("call_1")]).results()
    .model([reasoning("rs_2"), call("call_2")]).results();
}

function elide(to: History, seq: number, kept = "kept"): History {
  const events = [{ type: "result_elided", result_seq: seq, kept } as const];
  return to.add({ kind: "compaction", run: to.run, pins: PINS, events });
}

function withdraw(from: History, seq: number): History {
  const event = { type: "compaction_withdrawn", checkpoint: seq, restored: null } as const;
  return from.add({ kind: "harness", run: from.run, events: [event] });
}

function outputs({ turns }: History): string[] {
  return foldHistory(turns, TARGET).entries.flatMap((entry) =>
    entry.kind === "tool_result" ? [entry.output] : []
  );
}

Deno.test("a shortened result is sent as the kept text, is reported, and needs version 3 of the rules", () => {
  const whole = history();
  assert.deepEqual([outputs(whole), foldHistory(whole.turns, TARGET).version], [
    ["output of call_1", "output of call_2"],
    1,
  ]);
  const { turns } = elide(whole, 4);
  const folded = foldHistory(turns, TARGET);
  assert.deepEqual(outputs(whole), ["kept", "output of call_2"]);
  assert.deepEqual(folded.repairs, [{ seq: 4, kind: "result_elided", callId: "call_1" }]);
  assert.equal(folded.version, 3);
  assert.equal(folded.reasoning.filter(({ reason }) => reason === null).length, 2);
});

Deno.test("the newest shortening of a result counts, and a withdrawn one no longer does", () => {
  const both = elide(elide(history(), 4, "first"), 4, "second");
  assert.deepEqual(outputs(both), ["second", "output of call_2"]);
  assert.deepEqual(outputs(withdraw(both, 9)), ["first", "output of call_2"]);
  assert.deepEqual(outputs(withdraw(both, 8)), ["output of call_1", "output of call_2"]);
});

/** Thinking of a model whose reasoning is bound to the items before it. */
const BOUND: FoldTarget = {
  ...TARGET,
  fingerprint: { ...FINGERPRINT, provider: "anthropic" },
  needs: foldNeedsOf("anthropic"),
  model: "claude-fable-5-1",
};

function thinking(name: string) {
  return { type: "thinking", thinking: name, signature: `sig-${name}` };
}
function use(id: string) {
  return { type: "tool_use", id, name: "read_file", input: {} };
}

function drops(turns: History["turns"]): (string | null)[] {
  return foldHistory(turns, BOUND).reasoning.map(({ reason }) => reason);
}

Deno.test("bound thinking after a result that was shortened since is left out; before it and afterwards it is sent", () => {
  const from = { fingerprint: { provider: "anthropic" }, asked: BOUND.model } as const;
  const bound = new History().user("Task").model([thinking("a"), use("call_1")], from).results()
    .model([thinking("b"), use("call_2")], from).results();
  assert.deepEqual(drops(bound.turns), [null, null]);
  elide(bound, 4);
  assert.deepEqual(drops(bound.turns), [null, "prefix_changed"]);
  bound.model([thinking("c"), { type: "text", text: "Done" }], from);
  assert.deepEqual(drops(bound.turns), [null, "prefix_changed", null]);
  withdraw(bound, 8);
  assert.deepEqual(drops(bound.turns), [null, null, "prefix_changed"]);
});

Deno.test("a shortened result before a checkpoint changes nothing after it", () => {
  const short = elide(history(), 4);
  short.model([reasoning("rs_3"), message("msg_1", "Done")]);
  const event = {
    type: "history_compaction",
    to_seq: short.seq,
    to_turn: short.turns.length,
    previous_checkpoint: null,
    opening_turn: null,
    strategy: "deterministic",
    summary: "So far",
    limitations: [],
  } as const;
  short.add({ kind: "compaction", run: 1, pins: PINS, events: [event] });
  const after = short.turns.slice(-1);
  const target = { ...TARGET, run: 2 };
  assert.deepEqual(
    foldHistory(short.turns, target).entries.slice(0, 1),
    foldHistory(after, target).entries.slice(0, 1),
  );
  assert.deepEqual(outputs(short), []);
});

Deno.test("a result_elided must name an earlier result", () => {
  const wrong = (seq: number) => {
    const validator = new HistoryValidator("s");
    const found: string[] = [];
    for (const turn of elide(history(), seq).turns) {
      found.push(...validator.check(turn).map(({ code }) => code));
      validator.advance(turn);
    }
    return found;
  };
  assert.deepEqual(wrong(4), []);
  for (const seq of [3, 8, 99]) assert.deepEqual(wrong(seq), ["wrong_checkpoint"], String(seq));
});

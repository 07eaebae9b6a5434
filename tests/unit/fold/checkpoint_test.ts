import assert from "node:assert/strict";
import type { Item } from "../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../src/domain/folded.ts";
import type { Pins } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { Folded } from "../../../src/fold/history_fold.ts";
import { call, FINGERPRINT, History, message, MODEL, reasoning, TARGET } from "../../support/history.ts";

const PINS: Pins = {
  fingerprint: FINGERPRINT,
  model: MODEL,
  instructions: "0".repeat(64),
  tools: "0".repeat(64),
  permissions: [],
  workspace: "/workspace",
};

/** Run 1: user(1), rs_1(2), call_1(3), result(4), rs_2(5), message(6); run 2: user(7), rs_3(8), message(9). */
function twoRuns(): History {
  const history = new History().user("first")
    .model([reasoning("rs_1"), call("call_1")]).results()
    .model([reasoning("rs_2"), message("msg_1", "one")]);
  history.run = 2;
  return history.user("second").model([reasoning("rs_3"), message("msg_2", "two")]);
}

function checkpoint(history: History, toSeq: number, summary = "So far"): History {
  const toTurn = history.turns.find(({ seq }) => seq[1] === toSeq)?.turn ?? 0;
  return history.add({
    kind: "compaction",
    run: history.run,
    pins: PINS,
    events: [{
      type: "history_compaction",
      to_seq: toSeq,
      to_turn: toTurn,
      previous_checkpoint: null,
      opening_turn: null,
      strategy: "deterministic",
      summary,
      limitations: [],
    }],
  });
}

function withdraw(history: History, seq: number): History {
  return history.add({
    kind: "harness",
    run: history.run,
    events: [{ type: "compaction_withdrawn", checkpoint: seq, restored: null }],
  });
}

function continued(history: History): History {
  history.run++;
  return history.add({
    kind: "harness",
    run: history.run,
    pins: PINS,
    events: [{ type: "run_continued", run: history.run }],
  });
}

function brief({ entries }: Folded): string[] {
  return entries.map((entry) => entry.kind === "user_message" ? `user: ${textOf(entry)}` : entry.kind);
}

function textOf(entry: Extract<FoldedEntry, { kind: "user_message" }>): string {
  return entry.content.map((part: Item) => String(part.text)).join("");
}

const SO_FAR = "user: <session_checkpoint>\nSo far\n</session_checkpoint>";

Deno.test("a checkpoint replaces everything up to it, and the kept tail keeps its items", () => {
  const folded = foldHistory(checkpoint(twoRuns(), 6).turns, TARGET);
  assert.deepEqual(brief(folded), [SO_FAR, "user: second", "reasoning", "assistant_message"]);
  assert.deepEqual(folded.seqs, [10, 7, 8, 9]);
  const last = folded.entries.at(-1);
  assert.ok(last?.kind === "assistant_message" && last.keepId);
  assert.deepEqual(folded.dropped, [
    { seq: 2, reason: "before_checkpoint" },
    { seq: 5, reason: "before_checkpoint" },
  ]);
});

Deno.test("a checkpoint may keep nothing at all, and what comes next keeps its items", () => {
  const history = checkpoint(twoRuns(), 9);
  assert.deepEqual(brief(foldHistory(history.turns, TARGET)), [SO_FAR]);
  history.run = 3;
  history.user("third").model([reasoning("rs_4"), call("call_2")]).results();
  assert.deepEqual(brief(foldHistory(history.turns, { ...TARGET, run: 3 })), [
    SO_FAR,
    "user: third",
    "reasoning",
    "tool_call",
    "tool_result",
  ]);
});

Deno.test("of two checkpoints the later one counts, and the earlier one is not part of the tail", () => {
  const history = checkpoint(checkpoint(twoRuns(), 4, "Old"), 9);
  assert.deepEqual(brief(foldHistory(history.turns, TARGET)), [SO_FAR]);
  const late = checkpoint(checkpoint(twoRuns(), 9, "Old"), 6);
  assert.deepEqual(brief(foldHistory(late.turns, TARGET)), [
    SO_FAR,
    "user: second",
    "reasoning",
    "assistant_message",
  ]);
});

Deno.test("a withdrawn checkpoint counts no more: the one before it does, or the whole history", () => {
  const whole = brief(foldHistory(twoRuns().turns, TARGET));
  const single = withdraw(checkpoint(twoRuns(), 9), 10);
  assert.deepEqual(brief(foldHistory(single.turns, TARGET)), whole);
  assert.deepEqual(foldHistory(single.turns, TARGET).dropped, []);
  const second = withdraw(checkpoint(checkpoint(twoRuns(), 6), 9, "New"), 11);
  assert.deepEqual(brief(foldHistory(second.turns, TARGET)), [
    SO_FAR,
    "user: second",
    "reasoning",
    "assistant_message",
  ]);
});

Deno.test("a checkpoint inside the active run keeps that run's user message, from the first request on", () => {
  // To the end of the first loop step of run 1, which continues.
  const history = new History().user("the task").model([reasoning("rs_1"), call("call_1")]).results();
  checkpoint(history, 4);
  const first = brief(foldHistory(history.turns, { ...TARGET, run: 1 }));
  assert.deepEqual(first, [SO_FAR, "user: the task"]);
  history.model([reasoning("rs_2"), call("call_2")]).results();
  const second = brief(foldHistory(history.turns, { ...TARGET, run: 1 }));
  assert.deepEqual(second, [...first, "reasoning", "tool_call", "tool_result"]);
});

Deno.test("a run that resumes without a prompt has its task in the user's text, from the first request on", () => {
  const history = new History().user("the task").model([reasoning("rs_1"), call("call_1")]).results();
  continued(checkpoint(history, 4));
  const first = brief(foldHistory(history.turns, { ...TARGET, run: 2 }));
  assert.deepEqual(first, [SO_FAR, "user: the task"]);
  // A preview belongs to no run: it finds the unfinished run in the history.
  assert.deepEqual(brief(foldHistory(history.turns, TARGET)), first);
  history.model([message("msg_1", "done")]);
  assert.deepEqual(brief(foldHistory(history.turns, { ...TARGET, run: 2 })), [...first, "assistant_message"]);
});

Deno.test("a user message before the checkpoint is not kept for a later run", () => {
  const history = checkpoint(twoRuns(), 9).ended();
  history.run = 3;
  history.user("third");
  assert.deepEqual(brief(foldHistory(history.turns, { ...TARGET, run: 3 })), [SO_FAR, "user: third"]);
});

Deno.test("the window counts back from the last user message; what came since always goes", () => {
  const history = twoRuns();
  history.run = 3;
  history.user("third").model([reasoning("rs_4"), call("call_2")]).results()
    .model([reasoning("rs_5"), call("call_3")]).results();
  const sent = (window: number | null) =>
    foldHistory(history.turns, { ...TARGET, window }).reasoning.filter(({ reason }) => reason === null)
      .map(({ id }) => id);
  assert.deepEqual(sent(null), ["rs_1", "rs_2", "rs_3", "rs_4", "rs_5"]);
  assert.deepEqual(sent(3), ["rs_1", "rs_2", "rs_3", "rs_4", "rs_5"]);
  assert.deepEqual(sent(2), ["rs_2", "rs_3", "rs_4", "rs_5"]);
  assert.deepEqual(sent(1), ["rs_3", "rs_4", "rs_5"]);
  assert.deepEqual(sent(0), ["rs_4", "rs_5"]);
  const { dropped } = foldHistory(history.turns, { ...TARGET, window: 1 });
  assert.deepEqual(dropped, [{ seq: 2, reason: "outside_window" }, { seq: 5, reason: "outside_window" }]);
});

Deno.test("the window counts what would be sent: dropped items take no place in it", () => {
  const history = new History().user("x")
    .model([reasoning("rs_1"), message("msg_1", "a")])
    .model([reasoning("rs_2"), message("msg_2", "b")], { asked: "gpt-5.5" })
    .user("y");
  assert.deepEqual(foldHistory(history.turns, { ...TARGET, window: 1 }).dropped.map(({ reason }) => reason), [
    "other_model",
  ]);
});

Deno.test("a message goes without its id where the window leaves out its reasoning", () => {
  const folded = foldHistory(twoRuns().turns, { ...TARGET, window: 0 });
  const ids = folded.entries.flatMap((entry) => entry.kind === "assistant_message" ? [entry.keepId] : []);
  assert.deepEqual(ids, [false, true]);
});

Deno.test("age is no reason: the oldest of a thousand items goes", () => {
  const history = new History();
  for (let n = 1; n <= 1000; n++) history.user("x").model([reasoning(`rs_${n}`), message(`msg_${n}`, "a")]);
  assert.deepEqual(foldHistory(history.turns, TARGET).dropped, []);
});

Deno.test("a result before a checkpoint answers no call after it: it may not have been read", () => {
  const shell = (type: string) => ({ type, id: `${type}_1`, call_id: "call_s", status: "completed" });
  const history = new History().user("first").model([shell("shell_call"), shell("shell_call_output")])
    .ended();
  checkpoint(history, history.seq);
  history.run = 2;
  history.user("second").model([shell("shell_call"), message("msg_1", "no output came")]);
  const whole = foldHistory(history.turns, { ...TARGET, run: 2 });
  assert.deepEqual(brief(whole), [SO_FAR, "user: second", "assistant_message"]);
  const recent = history.turns.filter(({ seq }) => seq[0] > 4);
  assert.deepEqual(brief(foldHistory(recent, { ...TARGET, run: 2 })), brief(whole));
});

import assert from "node:assert/strict";
import { branchSummary } from "../../../src/fold/branch_summary.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { call, History, message, TARGET } from "../../support/history.ts";
import { test } from "../../support/test.ts";

Deno.test("a branch summary lists texts and calls in order, byte for byte the same each time", () => {
  const make = () =>
    new History().user("Fix  it\nplease").model([call("call_a"), call("call_b")]).results(["call_a"])
      .model([message("msg_1", "Done.")]).ended();
  const text = branchSummary("s", make().turns);
  assert.equal(
    text,
    [
      'This conversation was forked from session "s". There, after this point (events 1 to 6), this happened; ' +
      "files may have been changed by it:",
      "- user: Fix it please",
      '- call: read_file {"path":"a.txt"}: ok',
      '- call: read_file {"path":"a.txt"}: no result',
      "- assistant: Done.",
      "- run 1 ended: completed",
    ].join("\n"),
  );
  assert.equal(branchSummary("s", make().turns), text);
});

test.long("a branch summary of a long branch stays short, well-formed, and says what it leaves out", () => {
  const history = new History();
  for (let turn = 0; turn < 500; turn++) history.user(`${turn} ${"\ud83c\udf89".repeat(2000)}`);
  const text = branchSummary("s", history.turns) ?? "";
  assert.ok(text.length < 40 * 700, String(text.length));
  assert.ok(text.isWellFormed());
  assert.match(text, /\n- \(460 more lines\)\n- user: 470 /);
});

Deno.test("without events after the cut there is no summary", () => {
  assert.equal(branchSummary("s", []), null);
});

Deno.test("a branch summary goes into the request as one delimited user message, after the answers of open calls", () => {
  const history = new History().user("Go").model([call("call_a")]);
  history.add({
    kind: "fork",
    run: 1,
    events: [
      { type: "session_fork", parent: "p", to_seq: 2, to_turn: 2, sum: "0".repeat(64), lineage: ["p"] },
      { type: "branch_summary", session: "p", from_seq: 3, to_seq: 9, summary: "It continued." },
    ],
  });
  const { entries } = foldHistory(history.turns, TARGET);
  assert.deepEqual(entries.map(({ kind }) => kind), [
    "user_message",
    "tool_call",
    "tool_result",
    "user_message",
  ]);
  assert.deepEqual(entries.at(-1), {
    kind: "user_message",
    content: [{ type: "input_text", text: "<branch_summary>\nIt continued.\n</branch_summary>" }],
  });
});

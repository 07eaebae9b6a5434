/** Reasoning and calls of responses that failed, were capped or were cut off, and ids that a server uses again. */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { EventDraft, Item, ToolResultStatus } from "../../../src/domain/event.ts";
import { callIdOf } from "../../../src/domain/item.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { messagesApi } from "../../../src/apis/messages/api.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { call, FINGERPRINT, History, message, reasoning, TARGET } from "../../support/history.ts";

/** Closes the calls of the newest turn as the run does that never started them. */
function closed(history: History, status: ToolResultStatus = "not_run"): History {
  const events = (history.turns.at(-1)?.events ?? []).flatMap((event): EventDraft[] =>
    event.type === "tool_call"
      ? [{
        type: "tool_result",
        call_id: callIdOf(event.item),
        call_seq: event.seq,
        tool: "read_file",
        status,
        output: "The call was not run.",
      }]
      : []
  );
  return history.add({ kind: "harness", run: 1, events });
}

function inputOf(history: History, target: FoldTarget = TARGET): readonly Item[] {
  return JSON.parse(responsesApi.bodyOf({ model: "m" }, foldHistory(history.turns, target).entries)).input;
}

for (const status of ["failed", "incomplete", "interrupted", "cut"]) {
  Deno.test(`a call of a response that ended as ${status} goes nowhere, and its reasoning and answer neither`, () => {
    const history = closed(
      new History().user("x").model([reasoning("rs_1"), call("a"), call("b"), reasoning("rs_2")], { status }),
    ).user("y");
    const { dropped, entries, repairs, version } = foldHistory(history.turns, TARGET);
    assert.deepEqual(entries.map(({ kind }) => kind), ["user_message", "user_message"]);
    assert.deepEqual(dropped, [
      { seq: 2, reason: "no_following_item" },
      { seq: 3, reason: "call_not_run" },
      { seq: 4, reason: "call_not_run" },
      { seq: 5, reason: "no_following_item" },
      { seq: 6, reason: "call_not_run" },
      { seq: 7, reason: "call_not_run" },
    ]);
    assert.deepEqual([repairs, version], [[], 2]);
  });

  Deno.test(`text before such a call, in a response that ended as ${status}, is sent with its reasoning`, () => {
    const items = [reasoning("rs_1"), message("msg_1", "Let me see."), reasoning("rs_2"), call("a")];
    const history = closed(new History().user("x").model(items, { status })).user("y");
    assert.deepEqual(inputOf(history).map(({ type, id }) => [type, id]), [
      ["message", undefined],
      ["reasoning", "rs_1"],
      ["message", "msg_1"],
      ["message", undefined],
    ]);
  });
}

Deno.test("a call that dangles without any record, or with the one of a killed process, goes nowhere either", () => {
  const cut = () => new History().user("x").model([reasoning("rs_1"), call("a")], { status: "cut" });
  for (const history of [cut().user("y"), closed(cut(), "orphaned").user("y")]) {
    const { entries, repairs } = foldHistory(history.turns, TARGET);
    assert.deepEqual([entries.map(({ kind }) => kind), repairs], [["user_message", "user_message"], []]);
  }
});

Deno.test("a call that was run goes with its reasoning and its output, however its response ended", () => {
  const history = new History().user("x").model([reasoning("rs_1"), call("a")], { status: "incomplete" })
    .results();
  const { entries, version } = foldHistory(history.turns, TARGET);
  assert.deepEqual(entries.map(({ kind }) => kind), [
    "user_message",
    "reasoning",
    "tool_call",
    "tool_result",
  ]);
  assert.equal(version, 1);
});

Deno.test("a call of a completed response that was not run is answered: the model waits for it", () => {
  const history = closed(new History().user("x").model([reasoning("rs_1"), call("a")])).user("y");
  assert.deepEqual(inputOf(history).map(({ type }) => type), [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "message",
  ]);
});

Deno.test("thinking and a tool_use of a message that was cut off go together", () => {
  const fingerprint = { ...FINGERPRINT, provider: "anthropic" as const };
  const items: Item[] = [
    { type: "thinking", thinking: "Hm.", signature: "EqEE" },
    { type: "tool_use", id: "toolu_1", name: "read_file", input: {} },
  ];
  const history = closed(
    new History().user("x").model(items, { status: "cut", fingerprint, asked: "claude-opus-5" }),
  ).user("y");
  const target: FoldTarget = {
    ...TARGET,
    fingerprint,
    needs: foldNeedsOf("anthropic"),
    model: "claude-opus-5",
  };
  const { entries } = foldHistory(history.turns, target);
  assert.deepEqual(JSON.parse(messagesApi.bodyOf({ model: "m" }, entries)).messages, [
    { role: "user", content: [{ type: "text", text: "x" }, { type: "text", text: "y" }] },
  ]);
});

/** Reasoning of one id whose blob names its place. */
function sameId(place: string): Item {
  return reasoning("rs_1", `gAAA-${place}`);
}

function blobs(history: History, target: FoldTarget = TARGET): unknown[] {
  return inputOf(history, target).flatMap((item) =>
    item.type === "reasoning" ? [item.encrypted_content] : []
  );
}

Deno.test("if a server uses one id again, the newest response keeps its reasoning and the older ones lose theirs", () => {
  const history = new History().user("x")
    .model([sameId("first"), call("a")]).results()
    .model([sameId("second"), call("b")]).results()
    .model([sameId("third"), call("c")]).results();
  assert.deepEqual(blobs(history), ["gAAA-third"]);
  const { dropped, version } = foldHistory(history.turns, TARGET);
  assert.deepEqual(dropped, [{ seq: 2, reason: "duplicate_id" }, { seq: 5, reason: "duplicate_id" }]);
  assert.equal(version, 2);
  assert.equal(inputOf(history).filter(({ type }) => type === "function_call_output").length, 3);
});

Deno.test("an older item keeps a repeated id where the newer one is not sent", () => {
  const capped = new History().user("x").model([sameId("first"), call("a")]).results()
    .model([sameId("second")], { status: "interrupted" });
  assert.deepEqual(blobs(capped), ["gAAA-first"]);
  assert.deepEqual(foldHistory(capped.turns, TARGET).dropped.map(({ reason }) => reason), [
    "no_following_item",
  ]);
  // Two servers may count alike: the other one's item is no double.
  const elsewhere = new History().user("x")
    .model([sameId("first"), message("msg_1", "a")])
    .model([sameId("second"), message("msg_2", "b")], { fingerprint: { endpoint: "ffffffff" } });
  assert.deepEqual(blobs(elsewhere), ["gAAA-first"]);
  assert.equal(foldHistory(elsewhere.turns, TARGET).version, 1);
});

Deno.test("an older item does not take the place of a newer one that the API refused", () => {
  const history = new History().user("x").model([sameId("first"), message("msg_1", "a")])
    .model([sameId("second"), message("msg_2", "b")])
    .add({
      kind: "harness",
      run: 1,
      events: [{
        type: "replay_notice",
        reason: "reasoning_refused",
        items: [{ seq: 4, action: "quarantined" }],
      }],
    });
  assert.deepEqual(blobs(history), []);
});

Deno.test("of one response too, the later of two items with one id stays", () => {
  const items = [sameId("first"), message("msg_1", "a"), sameId("second"), call("a")];
  const history = new History().user("x").model(items).results();
  assert.deepEqual(blobs(history), ["gAAA-second"]);
  // The first message is not directly after sent reasoning any more, so it goes without its id.
  assert.ok(inputOf(history).every(({ type, id }) => type !== "message" || id === undefined));
});

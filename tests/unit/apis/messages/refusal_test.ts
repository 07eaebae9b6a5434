import assert from "node:assert/strict";
import type { ApiFailure } from "../../../../src/domain/errors.ts";
import type { FoldedEntry } from "../../../../src/domain/folded.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import { entryAt } from "../../../../src/apis/messages/layout.ts";
import type { RequestRefusal } from "../../../../src/apis/api.ts";

const ODD_ID = "functions.ls:0";
/** A comment gives the place of each block. */
const ENTRIES: readonly FoldedEntry[] = [
  { kind: "user_message", content: [{ type: "input_text", text: "a" }] }, // 0.0
  { kind: "reasoning", item: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "g" } }, // nowhere
  { kind: "reasoning", item: { type: "thinking", thinking: "t", signature: "E" } }, // 1.0
  { kind: "assistant_message", keepId: false, item: { type: "text", text: " " } }, // nowhere
  { kind: "provider_item", item: { type: "server_tool_use", id: "srvtoolu_1", input: {}, caller: {} } }, // 1.1
  { kind: "tool_call", callId: "toolu_1", item: { type: "tool_use", name: "ls", input: {} } }, // 1.2
  { kind: "tool_call", callId: ODD_ID, item: { type: "function_call", name: "ls", arguments: "{}" } }, // 1.3
  { kind: "user_message", content: [{ type: "input_text", text: "b" }, { type: "input_text", text: "c" }] }, // 2.2, 2.3
  { kind: "tool_result", callId: ODD_ID, callType: "function_call", output: "x" }, // 2.1
  { kind: "tool_result", callId: "toolu_1", callType: "tool_use", output: "y" }, // 2.0
  { kind: "reasoning", item: { type: "redacted_thinking", data: "E" } }, // 3.0
];
const ODD_WIRE_ID = "call_dd50e5a0d88a2b9758e1a5f1";

function refused(message: string, status = 400): ApiFailure {
  const body = JSON.stringify({
    type: "error",
    error: { type: "invalid_request_error", message },
    request_id: "r",
  });
  return messagesApi.classify(status, new Headers({ "content-type": "application/json" }), body);
}

function inStream(error: Record<string, string>): ApiFailure {
  const [update] = messagesApi.newAssembler().feed({
    event: "error",
    data: JSON.stringify({ type: "error", error }),
  });
  assert.ok(update?.kind === "finished" && update.response.failure !== undefined);
  return update.response.failure;
}

Deno.test("a place in the messages is traced back to the entry that went there", () => {
  const places: (readonly [number, number, number | null])[] = [
    [0, 0, 0],
    [1, 0, 2],
    [1, 1, 4],
    [1, 2, 5],
    [1, 3, 6],
    [2, 0, 9],
    [2, 1, 8],
    [2, 2, 7],
    [2, 3, 7],
    [3, 0, 10],
    [3, 1, null],
    [9, 0, null],
  ];
  for (const [message, block, entry] of places) assert.equal(entryAt(ENTRIES, message, block), entry);
});

Deno.test("a refusal names an entry, and the part of a message, by its place", () => {
  const rows: readonly (readonly [string, ReturnType<typeof messagesApi.entryNamed>])[] = [
    ["messages.2.content.3: no", { index: 7, part: 1 }],
    ["messages.2.content.2.image.source.base64.data: no", { index: 7, part: 0 }],
    ["messages[0].content[0]: no", { index: 0, part: 0 }],
    ["messages.2.content.1: no", { index: 8, part: null }],
    ["messages.1: no", { index: 6, part: null }],
    ["messages.9.content.0: no", null],
    ["no", null],
  ];
  for (const [message, named] of rows) {
    assert.deepEqual(messagesApi.entryNamed(refused(message), ENTRIES), named, message);
  }
});

const BOUND =
  "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different " +
  'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

Deno.test("a refusal of the API is recognized by its message", async (t) => {
  const rows: [string, string, RequestRefusal | null][] = [
    ["bound elsewhere", BOUND, { kind: "binding", index: 2 }],
    [
      "bound elsewhere, with all the hints",
      `${BOUND} The anthropic-beta header is unknown to this request. \`system\` changed.`,
      { kind: "binding", index: 2 },
    ],
    ["a forged signature", "messages.1.content.0: Invalid `signature` in `thinking` block", {
      kind: "reasoning",
      ids: [],
      index: 2,
    }],
    ["forged data", "messages.3.content.0: Invalid `data` in `redacted_thinking` block", {
      kind: "reasoning",
      ids: [],
      index: 10,
    }],
    ["a signature at no known place", "Invalid `signature` in `thinking` block", {
      kind: "reasoning",
      ids: [],
      index: null,
    }],
    [
      "a call without its result",
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1, toolu_9. " +
      "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
      { kind: "call", callId: "toolu_1" },
    ],
    [
      "a call whose id was changed for the API",
      `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ODD_WIRE_ID}.`,
      { kind: "call", callId: ODD_ID },
    ],
    [
      "a result without its call",
      "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` " +
      "block must have a corresponding `tool_use` block in the previous message.",
      { kind: "call", callId: "toolu_1" },
    ],
    [
      "a call that the request does not hold",
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_77",
      { kind: "call", callId: null },
    ],
    ["drop_block without the header", "thinking.block_binding: Extra inputs are not permitted", {
      kind: "field",
      without: "drop_block",
    }],
    ["the same after a tag", "thinking.adaptive.block_binding: Extra inputs are not permitted", {
      kind: "field",
      without: "drop_block",
    }],
    [
      "an unknown header",
      "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header.",
      { kind: "field", without: "drop_block" },
    ],
    ["a server with another idea of it", "thinking.block_binding: Input should be a boolean", {
      kind: "field",
      without: "drop_block",
    }],
    ["an unknown member", "messages.1.content.1.caller: Extra inputs are not permitted", {
      kind: "item",
      index: 4,
      field: "caller",
    }],
    [
      "an unknown member after the type",
      "messages.1.content.1.server_tool_use.caller: Extra inputs are not permitted",
      {
        kind: "item",
        index: 4,
        field: "caller",
      },
    ],
    [
      "a member deeper inside",
      "messages.1.content.1.server_tool_use.caller.x: Extra inputs are not permitted",
      {
        kind: "item",
        index: 4,
        field: null,
      },
    ],
    [
      "another problem of one block",
      "messages.2.content.2.text.text: text content blocks must be non-empty",
      {
        kind: "item",
        index: 7,
        field: null,
      },
    ],
    ["an unknown member of the body", "zebra: Extra inputs are not permitted", null],
    ["something else", "max_tokens: must be greater than 0", null],
  ];
  for (const [name, message, expected] of rows) {
    await t.step(name, () => {
      assert.deepEqual(messagesApi.refusalOf(refused(message), ENTRIES), expected);
      const unnamed = inStream({ message });
      assert.equal(unnamed.code, "provider_failed");
      assert.deepEqual(messagesApi.refusalOf(unnamed, ENTRIES), expected);
      const named = inStream({ type: "invalid_request_error", message });
      assert.deepEqual(messagesApi.refusalOf(named, ENTRIES), expected);
    });
  }
});

Deno.test("words that are not known are guessed at: by the id, the place or the subject that they name", async (t) => {
  const likely = (ids: readonly string[] = []): RequestRefusal => ({ kind: "likely_reasoning", ids });
  const rows: [string, RequestRefusal | null][] = [
    ["The signature of a thinking block has expired", likely()],
    ["messages.1: a thinking block cannot be used any more", likely()],
    ["messages.1.content.2: its thinking is too old", likely()],
    [
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
      { kind: "item", index: 2, field: null },
    ],
    ["Block srvtoolu_1 cannot be used", likely(["srvtoolu_1"])],
    ["messages.7.content.1.caller: Extra inputs are not permitted", { kind: "unknown" }],
    ["Bad request", { kind: "unknown" }],
    // About something else than the history.
    ["`max_tokens` must be greater than `thinking.budget_tokens`", null],
    ["thinking.budget_tokens: Input should be greater than 1024", null],
    ["model: claude-opus-4-5", null],
    ["model: claude-thinking-1", null],
    ["`temperature` may only be set to 1 when thinking is enabled", null],
    // Nothing to try again (protocol §11).
    ["Your credit balance is too low to access the Anthropic API", null],
    ["Output blocked by content filtering policy", null],
  ];
  for (const [message, refusal] of rows) {
    await t.step(message, () => {
      assert.deepEqual(messagesApi.refusalOf(refused(message), ENTRIES), refusal);
      const named = inStream({ type: "invalid_request_error", message });
      assert.deepEqual(messagesApi.refusalOf(named, ENTRIES), refusal);
      assert.deepEqual(messagesApi.refusalOf(inStream({ message }), ENTRIES), refusal);
      if (message.startsWith("messages.1.content")) return;
      const broken = inStream({ type: "api_error", message });
      assert.equal(messagesApi.refusalOf(broken, ENTRIES), null, "a server's fault is no refusal");
    });
  }
});

Deno.test("the same message in a failure of another kind leads to no retry", () => {
  for (const status of [401, 403, 429, 500, 529]) {
    assert.equal(messagesApi.refusalOf(refused(BOUND, status), ENTRIES), null);
  }
  const overloaded = { ...inStream({ type: "overloaded_error", message: "Overloaded" }) };
  assert.equal(messagesApi.refusalOf(overloaded, ENTRIES), null);
});

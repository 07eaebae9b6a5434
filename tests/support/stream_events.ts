/** Streams of Messages events, written manually, and the results of the assembler. */
import assert from "node:assert/strict";
import type { Item } from "../../src/domain/event.ts";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import type { FinishedResponse, StreamUpdate } from "../../src/apis/api.ts";

export const THINKING = { type: "thinking", thinking: "Let me see.", signature: "EqEE" };
export const REDACTED = { type: "redacted_thinking", data: "EmwKAhgB" };
export const TEXT = { type: "text", text: "Hello" };
export const CALL = { type: "tool_use", id: "toolu_1", name: "ls", input: { path: ".", deep: [1, null] } };

export function started(message: JsonObject = {}): JsonObject {
  return {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5-20260801",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 1 },
      ...message,
    },
  };
}

export function start(index: number, block: JsonObject): JsonObject {
  return { type: "content_block_start", index, content_block: block };
}

export function delta(index: number, value: JsonObject): JsonObject {
  return { type: "content_block_delta", index, delta: value };
}

export function stop(index: number): JsonObject {
  return { type: "content_block_stop", index };
}

export function ended(reason: JsonValue, more: JsonObject = {}): JsonObject[] {
  return [{ type: "message_delta", delta: { stop_reason: reason, ...more } }, { type: "message_stop" }];
}

/** The events of one block as the API sends them, its text in pieces of `size`. */
export function blockEvents(index: number, block: Item, size = 3): JsonObject[] {
  const pieces = (text: JsonValue | undefined, make: (piece: string) => JsonObject) =>
    (String(text).match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).map((piece) => delta(index, make(piece)));
  switch (block.type) {
    case "text":
      return [
        start(index, { ...block, text: "" }),
        ...pieces(block.text, (text) => ({ type: "text_delta", text })),
        stop(index),
      ];
    case "thinking":
      return [
        start(index, { ...block, thinking: "", signature: "" }),
        ...pieces(block.thinking, (thinking) => ({ type: "thinking_delta", thinking })),
        delta(index, { type: "signature_delta", signature: block.signature }),
        stop(index),
      ];
    case "tool_use":
      return [
        start(index, { ...block, input: {} }),
        delta(index, { type: "input_json_delta", partial_json: "" }),
        ...pieces(
          JSON.stringify(block.input),
          (piece) => ({ type: "input_json_delta", partial_json: piece }),
        ),
        stop(index),
      ];
    default:
      return [start(index, block), stop(index)];
  }
}

/** Sorts updates; what a restart made void is left out. */
export function read(updates: readonly StreamUpdate[]) {
  assert.equal(updates.filter(({ kind }) => kind === "finished").length, 1, "finished comes exactly once");
  assert.equal(updates.at(-1)?.kind, "finished", "finished comes last");
  const response = (updates.at(-1) as { response: FinishedResponse }).response;
  const after = updates.slice(updates.findLastIndex(({ kind }) => kind === "reset") + 1);
  const items = after.filter((update) => update.kind === "item");
  const text = after.map((update) => update.kind === "text_delta" ? update.delta : "").join("");
  const reasoning = after.map((update) => update.kind === "reasoning_delta" ? update.delta : "").join("");
  return { updates, items, response, text, reasoning };
}

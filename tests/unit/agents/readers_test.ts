/** The reader of a source is found by its first lines, also if some of them are damaged or missing. */
import assert from "node:assert/strict";
import { readerOf } from "../../../src/agents/readers.ts";
import { bytesOf } from "./support.ts";

const agentOf = (...lines: readonly unknown[]) => readerOf(bytesOf(lines))?.agent ?? null;

Deno.test("the first line that an agent writes names the reader; lines before it may be anything", () => {
  assert.equal(agentOf({ type: "session_meta", payload: {} }), "codex");
  assert.equal(agentOf({ type: "response_item", payload: {} }), "codex");
  assert.equal(agentOf({ type: "session", id: "a", cwd: "/" }), "pi");
  assert.equal(agentOf({ type: "message", id: "a", parentId: null, message: {} }), "pi");
  assert.equal(agentOf({ type: "user", sessionId: "a" }), "claude");
  assert.equal(agentOf({ type: "summary", summary: "Text", leafUuid: "a" }), "claude");
  assert.equal(agentOf({ type: "file-history-snapshot", messageId: "a", snapshot: {} }), "claude");
  assert.equal(agentOf({}, 5, { type: "message" }, { type: "session", id: "a", cwd: "/" }), "pi");
  assert.equal(
    readerOf(new TextEncoder().encode('{"torn\n\n{"type":"user","sessionId":"a"}'))?.agent,
    "claude",
  );
});

Deno.test("other sources have no reader", () => {
  assert.equal(agentOf(), null);
  assert.equal(agentOf({ type: "message" }, { type: "summary" }, { type: "event_msg" }, { id: "a" }), null);
  const late = [...Array.from({ length: 20 }, () => ({})), { type: "user", sessionId: "a" }];
  assert.equal(agentOf(...late), null);
  assert.equal(readerOf(new Uint8Array(1000)), null);
});

/** The reader of a source is found by its first lines, also if some of them are damaged or missing. */
import assert from "node:assert/strict";
import { splitLines } from "../../../src/agents/lines.ts";
import { readerOf } from "../../../src/agents/readers.ts";
import { bytesOf, summaryOf } from "./support.ts";

const agentOf = (...lines: readonly unknown[]) => readerOf(bytesOf(lines))?.agent ?? null;

Deno.test("the first line that an agent writes names the reader; lines before it may be anything", () => {
  assert.equal(agentOf({ type: "session_meta", payload: {} }), "codex");
  assert.equal(agentOf({ type: "response_item", payload: {} }), "codex");
  assert.equal(agentOf({ id: "a", timestamp: "2025-09-10T18:58:38.331Z", instructions: null }), "codex");
  assert.equal(agentOf({ record_type: "state" }), "codex");
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

Deno.test("a rollout of September 2025, whose items have no envelope, is read as a later one", () => {
  const bytes = bytesOf([
    { id: "one", timestamp: "2025-09-10T18:58:38.331Z", instructions: null, git: {} },
    { record_type: "state" },
    { type: "message", id: null, role: "user", content: [{ type: "input_text", text: "List them" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
    { type: "function_call", id: "fc_1", name: "shell", arguments: "{}", call_id: "c1" },
    { record_type: "state" },
    { type: "function_call_output", call_id: "c1", output: "a.txt" },
    { type: "message", id: null, role: "assistant", content: [{ type: "output_text", text: "One" }] },
  ]);
  const { read, isRecord } = readerOf(bytes) ?? assert.fail();
  const { id, main, lost } = read(splitLines(bytes, { name: "x", isRecord }).lines);
  assert.deepEqual([id, lost], ["one", []]);
  assert.deepEqual(summaryOf(main), [
    "user List them",
    "response null reasoning function_call",
    "result c1 a.txt",
    "response null message",
  ]);
});

Deno.test("other sources have no reader", () => {
  assert.equal(agentOf(), null);
  assert.equal(agentOf({ type: "message" }, { type: "summary" }, { type: "event_msg" }, { id: "a" }), null);
  const late = [...Array.from({ length: 20 }, () => ({})), { type: "user", sessionId: "a" }];
  assert.equal(agentOf(...late), null);
  assert.equal(readerOf(new Uint8Array(1000)), null);
});

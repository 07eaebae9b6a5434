import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { messagesCanonical } from "../../../src/apis/messages/canonical.ts";
import { responsesCanonical } from "../../../src/apis/responses/canonical.ts";

const OUTPUT_TYPES = [
  ...["function_call_output", "custom_tool_call_output", "computer_call_output"],
  ...["shell_call_output", "local_shell_call_output", "apply_patch_call_output"],
];

Deno.test("only the output of an item with a tool's output is left out; its call, status and the rest count", () => {
  for (const type of OUTPUT_TYPES) {
    const item: JsonObject = { type, call_id: "c", status: "failed", output: "text" };
    const rest = { type, call_id: "c", status: "failed" };
    assert.deepEqual(responsesCanonical.withoutOutputs(item), rest);
    assert.deepEqual(
      responsesCanonical.withoutOutputs({ ...item, output: [{ type: "input_text", text: "a" }] }),
      rest,
    );
  }
  const kept: readonly JsonObject[] = [
    { role: "user", content: "output" },
    { type: "message", role: "assistant", content: [], output: "x" },
    { type: "function_call", call_id: "c", name: "a", arguments: "{}" },
    { type: "mcp_call", id: "m", output: "of the server" },
    { type: "code_interpreter_call", id: "m", outputs: [], output: "of the server" },
    { type: "program_output", call_id: "c", output: "of the server" },
  ];
  for (const item of kept) assert.deepEqual(responsesCanonical.withoutOutputs(item), item);
});

Deno.test("only the content of tool results is left out of a message; their errors and other blocks count", () => {
  const result = (more: JsonObject) => ({ type: "tool_result", tool_use_id: "t", ...more });
  const text = { type: "text", text: "a", content: "b" };
  const message = {
    role: "user",
    content: [result({ content: "a", is_error: true }), result({ content: [text] }), result({}), text],
  };
  assert.deepEqual(messagesCanonical.withoutOutputs(message), {
    role: "user",
    content: [result({ is_error: true }), result({}), result({}), text],
  });
  const kept: readonly JsonObject[] = [
    { role: "user", content: "text" },
    { role: "assistant", content: [{ type: "web_search_tool_result", tool_use_id: "s", content: [] }] },
  ];
  for (const item of kept) assert.deepEqual(messagesCanonical.withoutOutputs(item), item);
});

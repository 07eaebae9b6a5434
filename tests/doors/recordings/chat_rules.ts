/** Requests of Chat Completions that break one rule each, and what the API says to them. */
import type { Json } from "../../support/files.ts";
import type { Broken } from "./broken_rules.ts";

export const user: Json = { role: "user", content: "Hi" };
export const calls = (...ids: readonly string[]): Json => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
export const answered = (tool_call_id: string): Json => ({ role: "tool", tool_call_id, content: "ok" });
export const talk = (...messages: readonly Json[]): Json => ({ model: "gpt-4o", messages });

/** At least one request for each rule. */
export const CHAT: readonly Broken[] = [
  {
    rule: "call_without_output",
    body: talk(user, calls("a", "b"), answered("a")),
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      "The following tool_call_ids did not have response messages: b",
    param: "messages",
  },
  {
    rule: "output_without_call",
    body: talk(user, calls("a"), user, answered("a")),
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param: "messages.[3].role",
  },
  {
    rule: "unknown_tool_call_id",
    body: talk(user, calls("a"), answered("b")),
    message: "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message.",
    param: "messages.[2].tool_call_id",
  },
  {
    rule: "duplicate_tool_call_id",
    body: talk(user, calls("a"), answered("a"), answered("a")),
    message: "Invalid parameter: Duplicate value for 'tool_call_id' of 'a'",
    param: "messages.[3].tool_call_id",
  },
  {
    rule: "missing_tool_call_id",
    body: talk(user, calls("a"), { role: "tool", content: "ok" }),
    message: "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    param: "messages.[2].tool_call_id",
  },
  {
    rule: "null_content",
    body: talk(user, { role: "assistant", content: null }),
    message: "Invalid value for 'content': expected a string, got null.",
    param: "messages.[1].content",
  },
  {
    rule: "max_tokens",
    body: { ...talk(user), model: "gpt-5.6", max_tokens: 5 },
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param: "max_tokens",
    code: "unsupported_parameter",
  },
  {
    rule: "system_role",
    body: { model: "o1-mini", messages: [{ role: "system", content: "Be nice" }, user] },
    message: "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    param: "messages[0].role",
    code: "unsupported_value",
  },
  {
    rule: "unknown_parameter",
    body: { ...talk(user), reasoning: {} },
    message: "Unknown parameter: 'reasoning'.",
    param: "reasoning",
    code: "unknown_parameter",
  },
  {
    rule: "unknown_parameter",
    body: { ...talk(user), wishes: {} },
    message: "Unknown parameter: 'wishes'.",
    warns: true,
  },
  {
    rule: "missing_parameter",
    body: { model: "gpt-4o" },
    message: "Missing required parameter: 'messages'.",
    param: "messages",
    code: "missing_required_parameter",
  },
  {
    rule: "field_type",
    body: talk({ role: "user", content: 3 }),
    message:
      "Invalid type for 'messages[0].content': expected a string or an array, but got a number instead.",
    param: "messages[0].content",
    code: "invalid_type",
  },
  {
    rule: "message_role",
    body: talk({ role: "robot", content: "Hi" }),
    message:
      "Invalid value: 'robot'. Supported values are: 'developer', 'system', 'user', 'assistant', 'tool', 'function'.",
    param: "messages[0].role",
    code: "invalid_value",
  },
  ...[
    ["tool_call_id_length", talk(user, calls("x".repeat(41)), answered("x".repeat(41)))],
    ["empty_tool_calls", talk(user, { role: "assistant", content: "Hi", tool_calls: [] })],
    ["temperature", { ...talk(user), model: "o3", temperature: 0.5 }],
    ["effort_with_tools", {
      ...{ ...talk(user), model: "gpt-5.6-luna", reasoning_effort: "low" },
      tools: [{ type: "function", function: { name: "f" } }],
    }],
    ["well_formed", talk({ role: "user", content: "half \ud83d" })],
  ].map(([rule, body]): Broken => ({ rule, body, message: null })),
];

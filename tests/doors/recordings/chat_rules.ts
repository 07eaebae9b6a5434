/** Requests of Chat Completions as changes of one that the API takes: those that break a rule, and others. */
import type { Json } from "../../support/files.ts";
import type { RuledApi } from "./api_rules.ts";

const user: Json = { role: "user", content: "Hi" };
const calls = (...ids: readonly string[]): Json => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const answered = (tool_call_id: string): Json => ({ role: "tool", tool_call_id, content: "ok" });
const talk = (...messages: readonly Json[]): Json => ({ messages });
const LOOP = [user, calls("a"), answered("a")];
const UNSUPPORTED = { param: "max_tokens", code: "unsupported_parameter" };

export const CHAT: RuledApi = {
  name: "chat",
  path: "/v1/chat/completions",
  header: {},
  valid: { model: "gpt-4o", ...talk(...LOOP) },
  broken: {
    call_without_output: [[
      talk(user, calls("a", "b"), answered("a")),
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      "The following tool_call_ids did not have response messages: b",
      { param: "messages" },
    ]],
    output_without_call: [[
      talk(user, calls("a"), user, answered("a")),
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      { param: "messages.[3].role" },
    ]],
    unknown_tool_call_id: [[
      { "messages.2.tool_call_id": "b" },
      "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message.",
      { param: "messages.[2].tool_call_id" },
    ]],
    duplicate_tool_call_id: [[
      talk(...LOOP, answered("a")),
      "Invalid parameter: Duplicate value for 'tool_call_id' of 'a'",
      { param: "messages.[3].tool_call_id" },
    ]],
    missing_tool_call_id: [[
      { "messages.2.tool_call_id": undefined },
      "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      { param: "messages.[2].tool_call_id" },
    ]],
    null_content: [[
      talk(user, { role: "assistant", content: null }),
      "Invalid value for 'content': expected a string, got null.",
      { param: "messages.[1].content" },
    ]],
    max_tokens: [[
      { model: "gpt-5.6", max_tokens: 5 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      UNSUPPORTED,
    ]],
    system_role: [[
      { model: "o1-mini", ...talk({ role: "system", content: "Be nice" }, user) },
      "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
      { param: "messages[0].role", code: "unsupported_value" },
    ]],
    unknown_parameter: [
      [{ reasoning: {} }, "Unknown parameter: 'reasoning'.", {
        param: "reasoning",
        code: "unknown_parameter",
      }],
      [{ wishes: {} }, "Unknown parameter: 'wishes'.", { warns: true }],
    ],
    missing_parameter: [[
      { messages: undefined },
      "Missing required parameter: 'messages'.",
      { param: "messages", code: "missing_required_parameter" },
    ]],
    field_type: [[
      { "messages.0.content": 3 },
      "Invalid type for 'messages[0].content': expected a string or an array, but got a number instead.",
      { param: "messages[0].content", code: "invalid_type" },
    ]],
    message_role: [[
      { "messages.0.role": "robot" },
      "Invalid value: 'robot'. Supported values are: 'developer', 'system', 'user', 'assistant', 'tool', 'function'.",
      { param: "messages[0].role", code: "invalid_value" },
    ]],
    tool_call_id_length: [[talk(user, calls("x".repeat(41)), answered("x".repeat(41))), null]],
    empty_tool_calls: [[talk(user, { role: "assistant", content: "Hi", tool_calls: [] }), null]],
    temperature: [[{ model: "o3", temperature: 0.5 }, null]],
    effort_with_tools: [[{
      ...{ model: "gpt-5.6-luna", reasoning_effort: "low" },
      tools: [{ type: "function", function: { name: "f" } }],
    }, null]],
    well_formed: [[{ "messages.0.content": "half \ud83d" }, null]],
  },
  accepted: {
    "parallel calls in another order of outputs": talk(
      ...[user, calls("a", "b"), answered("b"), answered("a"), user],
    ),
    "calls of two turns with one id": talk(...LOOP, calls("a"), answered("a")),
    "a call without content": { "messages.1.content": undefined },
    "a refusal without content": talk(user, { role: "assistant", content: null, refusal: "No" }, user),
    "max_tokens for a model without reasoning": { max_tokens: 5, temperature: 0.5 },
    "a chat model of a reasoning generation": { model: "gpt-5-chat-latest", max_tokens: 5 },
  },
  forms: [
    [talk({ role: "critic", content: "a" }), talk({ role: "judge", content: "a" })],
    [{ reasoning: {} }, { ...talk({ role: "system", content: "a" }), model: "o1-mini" }],
    [{ model: "gpt-5.6", max_tokens: 5 }, { model: "o3", max_tokens: 5 }],
  ],
  ignored: "user2",
};

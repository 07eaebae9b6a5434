/** Requests of Responses that break one rule each, and what the API says to them. */
import type { Json } from "../../support/files.ts";
import type { Broken } from "./broken_rules.ts";
import { sent } from "./served.ts";
import { responseStream } from "./shapes.ts";

export const user: Json = { role: "user", content: "go" };
export const thought: Json = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "blob" };
export const call: Json = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
export const result: Json = { type: "function_call_output", call_id: "call_1", output: "done" };
export const reply: Json = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  phase: "final_answer",
  content: [{ type: "output_text", text: "hi", annotations: [] }],
};

export const stateless = (input: Json, extra: Json = {}): Json => ({
  model: "gpt-test",
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  reasoning: { effort: "medium" },
  input,
  ...extra,
});

/** At least one request for each rule. */
export const RESPONSES: readonly Broken[] = [
  {
    rule: "reasoning_following",
    body: stateless([user, thought]),
    message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  },
  {
    rule: "reasoning_following",
    body: stateless([thought, user]),
    message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  },
  {
    // Captured, where responses are stored: the reply was rewritten manually and lost its id.
    rule: "reasoning_following",
    body: stateless([user, thought, { role: "assistant", content: "hi" }, user], { store: true }),
    message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  },
  {
    rule: "reasoning_required",
    body: stateless([user, { ...call, id: "fc_1" }, result]),
    message:
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    recorded: [sent(stateless([user]), { answer: responseStream(thought, { ...call, id: "fc_1" }) })],
  },
  {
    rule: "call_without_output",
    body: stateless([user, call]),
    message: "No tool output found for function call call_1.",
  },
  {
    rule: "output_without_call",
    body: stateless([user, result]),
    message: "No tool call found for function call output with call_id call_1.",
  },
  {
    rule: "output_without_call",
    body: stateless([user, call, result, result]),
    message: "No tool call found for function call output with call_id call_1.",
  },
  {
    rule: "output_without_call",
    body: stateless([user, { type: "shell_call_output", call_id: "call_9", output: [] }]),
    message: "No tool call found for shell call output with call_id call_9.",
  },
  {
    rule: "duplicate_id",
    body: stateless([user, thought, reply, thought, reply]),
    message: "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
  },
  {
    rule: "missing_parameter",
    body: stateless([user, { type: "function_call", call_id: "call_1", name: "f" }, result]),
    message: "Missing required parameter: 'input[1].arguments'.",
    param: "input[1].arguments",
    code: "missing_required_parameter",
  },
  {
    rule: "unknown_parameter",
    body: stateless([user, { ...thought, status: null }, call, result]),
    message: "Unknown parameter: 'input[1].status'.",
    param: "input[1].status",
    code: "unknown_parameter",
    header: { provider: "azure" },
  },
  {
    rule: "unknown_parameter",
    body: stateless([user, { ...call, parsed_arguments: {} }, result]),
    message: "Unknown parameter: 'input[1].parsed_arguments'.",
    warns: true,
  },
  {
    rule: "id_prefix",
    body: stateless([user, { ...thought, id: "reasoning_content" }, call, result]),
    message: "Invalid 'input[1].id': 'reasoning_content'. Expected an ID that begins with 'rs'.",
    param: "input[1].id",
    code: "invalid_value",
  },
  {
    rule: "encrypted_content",
    body: stateless([user, { ...thought, encrypted_content: "other" }, reply]),
    message: "The encrypted content for item rs_1 could not be verified. " +
      "Reason: Encrypted content could not be decrypted or parsed.",
    param: null,
    code: "invalid_encrypted_content",
  },
  {
    rule: "item_reference",
    body: stateless([user, { type: "item_reference", id: "rs_1" }]),
    message: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. " +
      "Try again with `store` set to true, or remove this item from your input.",
    status: 404,
  },
  {
    rule: "reasoning_not_stored",
    body: stateless([user, { type: "reasoning", id: "rs_1", summary: [] }, reply]),
    message: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. " +
      "Try again with `store` set to true, or remove this item from your input.",
    status: 404,
  },
  {
    rule: "previous_response",
    body: stateless([user], { previous_response_id: "resp_1" }),
    message: "Previous response with id 'resp_1' not found.",
    param: "previous_response_id",
    code: "previous_response_not_found",
  },
  {
    rule: "unsupported_parameter",
    body: stateless([user], { temperature: 0 }),
    message: "Unsupported parameter: 'temperature' is not supported with this model.",
    param: "temperature",
  },
  {
    rule: "stream_options",
    body: stateless([user], { stream: false, stream_options: { include_obfuscation: false } }),
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    param: "stream_options",
  },
  {
    rule: "include_value",
    body: stateless([user], { include: ["reasoning.everything"] }),
    message: "Invalid value: 'reasoning.everything'. Supported values are: 'reasoning.encrypted_content', " +
      "'message.output_text.logprobs', 'message.input_image.image_url', 'file_search_call.results', " +
      "'web_search_call.results', 'web_search_call.action.sources', 'computer_call_output.output.image_url', " +
      "'code_interpreter_call.outputs'.",
    param: "include[0]",
    code: "invalid_value",
  },
  {
    rule: "unknown_item_type",
    body: stateless([user, { type: "thinking", thinking: "…" }]),
    message: "Invalid value: 'thinking'.",
    param: "input[1].type",
    code: "invalid_value",
  },
  {
    rule: "field_type",
    body: stateless([user, { ...call, arguments: {} }, result]),
    message: "Invalid type for 'input[1].arguments': expected a string, but got an object instead.",
    param: "input[1].arguments",
    code: "invalid_type",
  },
  {
    rule: "call_id_length",
    body: stateless([user, { ...call, call_id: "" }, { ...result, call_id: "" }]),
    message:
      "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    param: "input[1].call_id",
    code: "empty_string",
  },
  {
    rule: "id_length",
    body: stateless([user, { ...reply, id: `msg_${"x".repeat(70)}` }]),
    message:
      "Invalid 'input[1].id': string too long. Expected a string with maximum length 64, but got a string with length 74 instead.",
    param: "input[1].id",
    code: "string_above_max_length",
  },
  {
    rule: "compaction_trigger_last",
    body: stateless([{ type: "compaction_trigger" }, user]),
    message: "Invalid 'input[0]': an item of type 'compaction_trigger' must be the last input item.",
    param: "input[0]",
    code: "invalid_value",
  },
  {
    rule: "well_formed",
    body: stateless([{ role: "user", content: [{ type: "input_text", text: "half \ud83d" }] }]),
    message: "We could not parse the JSON body of your request: it is not valid Unicode.",
    param: null,
  },
];

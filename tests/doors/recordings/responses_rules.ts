/** Requests of Responses as changes of one that the API takes: those that break a rule, and those that break none. */
import type { Json } from "../../support/files.ts";
import type { RuledApi } from "./api_rules.ts";
import { sent } from "./served.ts";
import { responseStream } from "./shapes.ts";

const user: Json = { role: "user", content: "go" };
const thought: Json = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "blob" };
const call: Json = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
const result: Json = { type: "function_call_output", call_id: "call_1", output: "done" };
const second = (item: Json): Json => ({ ...item, call_id: "call_2" });
const reply: Json = {
  ...{ type: "message", id: "msg_1", role: "assistant", status: "completed", phase: "final_answer" },
  content: [{ type: "output_text", text: "hi", annotations: [] }],
};
const input = (...input: readonly Json[]) => ({ input });
const request: Json = {
  ...{ model: "gpt-test", store: false, stream: true, include: ["reasoning.encrypted_content"] },
  reasoning: { effort: "medium" },
  input: [user, thought, call, result],
};
const FOLLOWING = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
const NO_CALL = "No tool call found for function call output with call_id call_1.";
const NOT_STORED = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. " +
  "Try again with `store` set to true, or remove this item from your input.";
const invalid = (param: string | null, code: string | null = "invalid_value") => ({ param, code });

export const RESPONSES: RuledApi = {
  name: "responses",
  path: "/v1/responses",
  header: {},
  valid: request,
  broken: {
    reasoning_following: [
      [input(user, thought), FOLLOWING],
      // Captured, where responses are stored: the reply was rewritten manually and lost its id.
      [{ ...input(user, thought, { role: "assistant", content: "hi" }, user), store: true }, FOLLOWING],
    ],
    reasoning_required: [[
      input(user, { ...call, id: "fc_1" }, result),
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
      {
        recorded: [
          sent({ ...request, input: [user] }, { answer: responseStream(thought, { ...call, id: "fc_1" }) }),
        ],
      },
    ]],
    call_without_output: [[input(user, call), "No tool output found for function call call_1."]],
    output_without_call: [
      [input(user, result), NO_CALL],
      [input(user, call, result, result), NO_CALL],
      [
        input(user, { type: "shell_call_output", call_id: "call_9", output: [] }),
        "No tool call found for shell call output with call_id call_9.",
      ],
    ],
    duplicate_id: [[
      input(user, thought, reply, thought, reply),
      "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
    ]],
    missing_parameter: [[
      { "input.2.arguments": undefined },
      "Missing required parameter: 'input[2].arguments'.",
      invalid("input[2].arguments", "missing_required_parameter"),
    ]],
    unknown_parameter: [
      [{ "input.1.status": null }, "Unknown parameter: 'input[1].status'.", {
        ...invalid("input[1].status", "unknown_parameter"),
        header: { provider: "azure" },
      }],
      [{ "input.2.parsed_arguments": {} }, "Unknown parameter: 'input[2].parsed_arguments'.", {
        warns: true,
      }],
    ],
    id_prefix: [[
      { "input.1.id": "reasoning_content" },
      "Invalid 'input[1].id': 'reasoning_content'. Expected an ID that begins with 'rs'.",
      invalid("input[1].id"),
    ]],
    encrypted_content: [[
      { "input.1.encrypted_content": "other" },
      "The encrypted content for item rs_1 could not be verified. " +
      "Reason: Encrypted content could not be decrypted or parsed.",
      invalid(null, "invalid_encrypted_content"),
    ]],
    item_reference: [[input(user, { type: "item_reference", id: "rs_1" }), NOT_STORED, { status: 404 }]],
    reasoning_not_stored: [[{ "input.1.encrypted_content": undefined }, NOT_STORED, { status: 404 }]],
    previous_response: [[
      { ...input(user), previous_response_id: "resp_1" },
      "Previous response with id 'resp_1' not found.",
      invalid("previous_response_id", "previous_response_not_found"),
    ]],
    unsupported_parameter: [[
      { temperature: 0 },
      "Unsupported parameter: 'temperature' is not supported with this model.",
      { param: "temperature" },
    ]],
    stream_options: [[
      { stream: false, stream_options: { include_obfuscation: false } },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      { param: "stream_options" },
    ]],
    include_value: [[
      { include: ["reasoning.everything"] },
      "Invalid value: 'reasoning.everything'. Supported values are: 'reasoning.encrypted_content', " +
      "'message.output_text.logprobs', 'message.input_image.image_url', 'file_search_call.results', " +
      "'web_search_call.results', 'web_search_call.action.sources', 'computer_call_output.output.image_url', " +
      "'code_interpreter_call.outputs'.",
      invalid("include[0]"),
    ]],
    unknown_item_type: [
      [input(user, { type: "thinking" }), "Invalid value: 'thinking'.", invalid("input[1].type")],
    ],
    field_type: [[
      { "input.2.arguments": {} },
      "Invalid type for 'input[2].arguments': expected a string, but got an object instead.",
      invalid("input[2].arguments", "invalid_type"),
    ]],
    call_id_length: [[
      { "input.2.call_id": "", "input.3.call_id": "" },
      "Invalid 'input[2].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      invalid("input[2].call_id", "empty_string"),
    ]],
    id_length: [[
      input(user, { ...reply, id: `msg_${"x".repeat(70)}` }),
      "Invalid 'input[1].id': string too long. Expected a string with maximum length 64, but got a string with length 74 instead.",
      invalid("input[1].id", "string_above_max_length"),
    ]],
    compaction_trigger_last: [[
      input({ type: "compaction_trigger" }, user),
      "Invalid 'input[0]': an item of type 'compaction_trigger' must be the last input item.",
      invalid("input[0]"),
    ]],
    well_formed: [[
      { "input.0.content": "half \ud83d" },
      "We could not parse the JSON body of your request: it is not valid Unicode.",
      invalid(null, null),
    ]],
  },
  accepted: {
    "text alone": { input: "hello" },
    "reasoning for two calls, answered after both": input(
      ...[user, thought, call, second(call), result, second(result)],
    ),
    "a message with its id after reasoning": input(user, thought, reply, user),
    "ids and status of calls": { "input.2.id": "fc_1", "input.2.status": null },
    "a field of Codex CLI": { "input.0.internal_chat_message_metadata_passthrough": { turn_id: "t" } },
    "a call id that comes again once it was answered": input(user, call, result, call, result),
    "a compaction with its trigger": input(user, { type: "compaction_trigger" }),
    "a call of the server's own tool": input(
      ...[{ type: "web_search_call", id: "ws_1", status: "completed", action: {} }, user],
    ),
    "an output after a stored response": { ...input(result), store: true, previous_response_id: "resp_1" },
    "a reference to a stored item": { ...input(user, { type: "item_reference", id: "msg_1" }), store: true },
    "a temperature without reasoning": { ...input(user), reasoning: { effort: "none" }, temperature: 0.5 },
  },
  forms: [
    [input(user, { type: "dream" }), input(user, { type: "vision" })],
    [
      input(user, { type: "custom_tool_call", name: "x", input: "" }),
      input(user, { type: "shell_call", action: {} }),
    ],
    [input(user, { ...call, id: "call-1" }, result), input(user, { ...reply, id: "x-1" })],
  ],
  ignored: "user2",
};

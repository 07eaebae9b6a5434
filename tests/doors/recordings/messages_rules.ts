/** Requests of Messages that break one rule each, and what the API says to them. */
import type { Json } from "../../support/files.ts";
import type { Broken } from "./broken_rules.ts";

export const HEADERS = { "anthropic-version": "2026-10-21" };
export const OLD_VERSION = { "anthropic-version": "2023-06-01" };
export const BINDING = {
  ...HEADERS,
  "anthropic-beta": "other-2026-01-01, thinking-binding-controls-2026-08-01",
};

export const user: Json = { role: "user", content: "go" };
export const thought: Json = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
export const secret: Json = { type: "redacted_thinking", data: "ZGF0YQ==" };
export const words: Json = { type: "text", text: "I look." };
export const use: Json = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
export const result: Json = { type: "tool_result", tool_use_id: "toolu_1", content: "done" };
export const search: Json = {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: {},
};
export const found: Json = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
export const tool: Json = { name: "f", input_schema: { type: "object" } };

export const assistant = (...content: readonly Json[]): Json => ({ role: "assistant", content });
export const results = (...content: readonly Json[]): Json => ({ role: "user", content });

export const request = (messages: Json, extra: Json = {}): Json => ({
  model: "claude-opus-5-5",
  max_tokens: 2048,
  messages,
  stream: true,
  ...extra,
});

const cached = (block: Json): Json => ({ ...block, cache_control: { type: "ephemeral" } });
const loop = [user, assistant(thought, use), results(result)];
const unanswered = "`tool_use` ids were found without `tool_result` blocks immediately after";
const needsResult =
  "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
const needsUse =
  "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";

/** At least one request for each rule. */
export const MESSAGES: readonly Broken[] = [
  { rule: "body_object", body: [], message: "Input should be a valid dictionary" },
  {
    rule: "well_formed",
    body: request([{ role: "user", content: "half \ud83d" }]),
    message: "The request body is not valid JSON",
  },
  {
    rule: "version_header",
    body: request([user]),
    headers: {},
    message: "anthropic-version: header is required",
  },
  {
    rule: "missing_field",
    body: { model: "m", messages: [user] },
    message: "max_tokens: Field required",
  },
  {
    rule: "missing_field",
    body: request([user, assistant({ type: "thinking", thinking: "Hm." }, words), user]),
    message: "messages.1.content.0.thinking.signature: Field required",
  },
  {
    rule: "missing_field",
    body: request([user], { tools: [{ name: "f" }] }),
    message: "tools.0.custom.input_schema: Field required",
  },
  {
    rule: "missing_field",
    body: request([user], { thinking: { type: "enabled" } }),
    message: "thinking.enabled.budget_tokens: Field required",
  },
  {
    rule: "field_type",
    body: request([user, assistant({ ...use, input: "{}" }), results(result)]),
    message: "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
  },
  {
    rule: "field_type",
    body: request([user], { tools: [{ ...tool, input_schema: { type: "string" } }] }),
    message: "tools.0.custom.input_schema.type: Input should be 'object'",
  },
  {
    rule: "field_type",
    body: request([user], { cache_control: { type: "ephemeral", ttl: "1d" } }),
    message: "cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
  },
  {
    rule: "unknown_field",
    body: request([user], { input: [] }),
    message: "input: Extra inputs are not permitted",
  },
  {
    rule: "unknown_field",
    body: request([user, assistant({ ...thought, foo: 1 }, words), user]),
    message: "messages.1.content.0.thinking.foo: Extra inputs are not permitted",
  },
  {
    rule: "unknown_field",
    body: request([user, assistant({ ...use, index: 0 }), results(result)]),
    message: "messages.1.content.0.tool_use.index: Extra inputs are not permitted",
  },
  {
    // A message of the other API.
    rule: "unknown_field",
    body: request([{ ...user, id: "msg_1" }]),
    message: "messages.0.id: Extra inputs are not permitted",
  },
  {
    rule: "unknown_field",
    body: request([user, assistant(use), results({ ...result, content: [{ ...words, annotations: [] }] })]),
    message: "messages.2.content.0.tool_result.content.0.text.annotations: Extra inputs are not permitted",
  },
  {
    rule: "unknown_field",
    body: request([user], { tools: [{ ...tool, parameters: {} }] }),
    message: "tools.0.custom.parameters: Extra inputs are not permitted",
  },
  {
    rule: "thinking_cache_control",
    body: request([user, assistant(cached(thought), words), user]),
    message: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
  },
  {
    rule: "block_binding_header",
    body: request([user], {
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    }),
    message: "thinking.adaptive.block_binding: Extra inputs are not permitted",
  },
  {
    rule: "role",
    body: request([user, { role: "tool", content: "done" }]),
    message: "messages.1.role: Input should be 'user', 'assistant' or 'system'",
  },
  {
    rule: "block_type",
    body: request([results({ type: "input_text", text: "go" })]),
    message:
      "messages.0.content.0: Input tag 'input_text' found using 'type' does not match any of the expected tags",
  },
  {
    rule: "block_role",
    body: request([results(words, thought)]),
    message: "messages.0.content.1: `thinking` blocks can only be in `assistant` messages",
  },
  {
    rule: "block_role",
    body: request([user, { role: "assistant", content: [{ type: "image", source: {} }] }, user]),
    message: "messages.1.content.0: `image` blocks can only be in `user` messages",
  },
  {
    // The system speaks in text.
    rule: "block_role",
    body: request([user, { role: "system", content: [{ type: "document", source: {} }] }, user]),
    message: "messages.1.content.0: `document` blocks can only be in `user` messages",
  },
  ...["temperature", "top_p", "top_k"].map((name): Broken => ({
    rule: "version_2026_10_21",
    body: request([user], { [name]: 1 }),
    message: `${name}: not supported by version 2026-10-21`,
  })),
  {
    rule: "version_2026_10_21",
    body: request([user, assistant({ type: "document", source: {} }), user]),
    message: "messages.1.content.0: `document` blocks are not permitted in assistant messages",
  },
  {
    rule: "version_2026_10_21",
    body: request([results({ ...words, citations: [] })]),
    message: "messages.0.content.0.text.citations: not permitted in user messages",
  },
  {
    rule: "max_tokens",
    body: request([user], { max_tokens: -1 }),
    message: "max_tokens: Input should be greater than or equal to 0",
  },
  {
    rule: "max_tokens",
    body: request([user], { max_tokens: 1.5 }),
    message: "max_tokens: Input should be a valid integer",
  },
  {
    rule: "thinking_config",
    body: request([user], { thinking: { type: "deep" } }),
    message: "thinking: Input tag 'deep' found using 'type' does not match any of the expected tags: " +
      "'adaptive', 'enabled', 'disabled', 'between_tools'",
  },
  {
    rule: "thinking_config",
    body: request([user], { thinking: { type: "enabled", budget_tokens: 1023 } }),
    message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
  },
  {
    rule: "thinking_config",
    body: request([user], { thinking: { type: "enabled", budget_tokens: 2048 } }),
    message: "`max_tokens` must be greater than `thinking.budget_tokens`.",
  },
  {
    rule: "thinking_config",
    body: request([user], { thinking: { type: "adaptive", display: "all" } }),
    message: "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
  },
  {
    rule: "thinking_config",
    body: request([user], {
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop" } },
    }),
    headers: BINDING,
    message:
      "thinking.adaptive.block_binding.prefix_mismatch_behavior: Input should be 'drop_block' or 'error'",
  },
  {
    rule: "output_config",
    body: request([user], { output_config: { effort: "minimal" } }),
    message: "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
  },
  {
    rule: "output_config",
    body: request([user], { output_config: { format: { type: "json_object" } } }),
    message: "output_config.format: Input should be of type 'json_schema' with a schema",
  },
  {
    rule: "tool_choice",
    body: request([user], { tools: [tool], tool_choice: { type: "required" } }),
    message:
      "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: " +
      "'auto', 'any', 'tool', 'none'",
  },
  {
    rule: "tool_name",
    body: request([user], { tools: [{ ...tool, name: "a.b" }] }),
    message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  },
  {
    rule: "duplicate_tool",
    body: request([user], { tools: [tool, tool] }),
    message: "tools: Tool names must be unique.",
  },
  {
    rule: "cache_breakpoints",
    body: request([results(cached(words), cached(words))], {
      cache_control: { type: "ephemeral" },
      system: [cached(words)],
      tools: [cached(tool)],
    }),
    message: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  },
  {
    rule: "first_message",
    body: request([assistant(words), user]),
    message: 'messages: first message must use the "user" role',
  },
  {
    rule: "first_message",
    body: request([{ role: "system", content: "Be brief." }, assistant(words), user]),
    message: 'messages: first message must use the "user" role',
  },
  { rule: "first_message", body: request([]), message: "messages: at least one message is required" },
  {
    rule: "empty_content",
    body: request([{ role: "user", content: "" }]),
    message: "messages: text content blocks must be non-empty",
  },
  {
    rule: "empty_content",
    body: request([user], { system: [{ type: "text", text: "" }] }),
    message: "system: text content blocks must be non-empty",
  },
  {
    rule: "empty_content",
    body: request([user, assistant(), user]),
    message:
      "messages: all messages must have non-empty content except for the optional final assistant message",
  },
  {
    rule: "tool_use_id",
    body: request([user, assistant({ ...use, id: "a:1" }), results({ ...result, tool_use_id: "a:1" })]),
    message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  },
  {
    rule: "duplicate_tool_use_id",
    body: request([...loop, assistant(use), results(result)]),
    message: "messages: `tool_use` ids must be unique",
  },
  {
    rule: "tool_use_without_result",
    body: request([user, assistant(thought, use, { ...use, id: "toolu_2" }), user]),
    message: `messages.1: ${unanswered}: toolu_1, toolu_2. ${needsResult}`,
  },
  {
    // Another block is before the result.
    rule: "tool_use_without_result",
    body: request([user, assistant(use), results(words, result)]),
    message: `messages.1: ${unanswered}: toolu_1. ${needsResult}`,
  },
  {
    // Answered, but not at once.
    rule: "tool_use_without_result",
    body: request([user, assistant(use), user, assistant(words), user]),
    message: `messages.1: ${unanswered}: toolu_1. ${needsResult}`,
  },
  {
    rule: "result_without_tool_use",
    body: request([results(result, words)]),
    message:
      `messages.0.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: toolu_1. ${needsUse}`,
  },
  {
    rule: "duplicate_result",
    body: request([user, assistant(use), results(result, result)]),
    message:
      "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks " +
      "with id: toolu_1",
  },
  {
    rule: "server_result_without_use",
    body: request([user, assistant(found, words), user]),
    message:
      "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. " +
      "Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
  },
  {
    rule: "server_use_without_result",
    body: request([user, assistant(search, words), user]),
    message: "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding " +
      "`web_search_tool_result` block",
  },
  {
    rule: "signature",
    body: request([user, assistant({ ...thought, signature: "Zm9yZ2Vk" }, use), results(result)]),
    message: "messages.1.content.0: Invalid `signature` in `thinking` block",
  },
  {
    rule: "signature",
    body: request([user, assistant(words, { ...secret, data: "Zm9yZ2Vk" }, words), user]),
    message: "messages.1.content.1: Invalid `data` in `redacted_thinking` block",
  },
  {
    rule: "prefill",
    body: request([user, assistant(words)]),
    message:
      "This model does not support assistant message prefill. The conversation must end with a user message.",
  },
];

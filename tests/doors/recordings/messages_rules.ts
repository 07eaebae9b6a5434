/** Requests of Messages as changes of one that the API takes: those that break a rule, and those that break none. */
import type { Json } from "../../support/files.ts";
import type { RuledApi } from "./api_rules.ts";
import { sent } from "./served.ts";

export const HEADERS = { "anthropic-version": "2026-10-21" };
const BETA = "other-2026-01-01, thinking-binding-controls-2026-08-01";
const BINDING = { ...HEADERS, "anthropic-beta": BETA };

const user: Json = { role: "user", content: "go" };
const thought: Json = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
const secret: Json = { type: "redacted_thinking", data: "ZGF0YQ==" };
const words: Json = { type: "text", text: "I look." };
const use: Json = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
const use2: Json = { ...use, id: "toolu_2" };
const result: Json = { type: "tool_result", tool_use_id: "toolu_1", content: "done" };
const result2: Json = { ...result, tool_use_id: "toolu_2" };
const search: Json = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const found: Json = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
const tool: Json = { name: "f", input_schema: { type: "object" } };
const document: Json = { type: "document", source: {} };
const assistant = (...content: readonly Json[]): Json => ({ role: "assistant", content });
const results = (...content: readonly Json[]): Json => ({ role: "user", content });

const LOOP = [user, assistant(thought, secret, use), results(result)];
const ENDED = [user, assistant(thought, words), user];
const THOUGHT = "messages.1.content.0";
const USE = "messages.1.content.2";
const messages = (...messages: readonly Json[]) => ({ messages });
const one = (block: Json) => messages(results(block));
const cached = (block: Json): Json => ({ ...block, cache_control: { type: "ephemeral", ttl: "5m" } });
const adaptive = (prefix_mismatch_behavior: string) => ({
  thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior } },
});

const UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after";
const NEEDS_RESULT =
  "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
const NEEDS_USE =
  "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
const UNKNOWN_TAG = "found using 'type' does not match any of the expected tags";
const USER_FIRST = 'messages: first message must use the "user" role';

export const MESSAGES: RuledApi = {
  name: "messages",
  path: "/v1/messages",
  headers: HEADERS,
  header: { provider: "anthropic", base_url: "https://api.anthropic.com" },
  valid: { model: "claude-opus-5-5", max_tokens: 2048, stream: true, messages: LOOP },
  broken: {
    body_object: [[[], "Input should be a valid dictionary"]],
    well_formed: [[{ "messages.0.content": "half \ud83d" }, "The request body is not valid JSON"]],
    version_header: [[{}, "anthropic-version: header is required", { headers: {} }]],
    missing_field: [
      [{ max_tokens: undefined }, "max_tokens: Field required"],
      [{ tools: [{ name: "f" }] }, "tools.0.custom.input_schema: Field required"],
    ],
    field_type: [
      [
        { cache_control: { type: "ephemeral", ttl: "1d" } },
        "cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
      ],
    ],
    unknown_field: [
      [{ input: [] }, "input: Extra inputs are not permitted"],
      [
        { "messages.2.content.0.content": [{ ...words, annotations: [] }] },
        "messages.2.content.0.tool_result.content.0.text.annotations: Extra inputs are not permitted",
      ],
    ],
    thinking_cache_control: [
      [{ [THOUGHT]: cached(thought) }, `${THOUGHT}.thinking.cache_control: Extra inputs are not permitted`],
    ],
    block_binding_header: [
      [adaptive("drop_block"), "thinking.adaptive.block_binding: Extra inputs are not permitted"],
    ],
    role: [[
      { "messages.0.role": "tool" },
      "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ]],
    block_type: [[
      one({ type: "input_text", text: "go" }),
      `messages.0.content.0: Input tag 'input_text' ${UNKNOWN_TAG}`,
    ]],
    block_role: [
      [
        messages(results(words, thought)),
        "messages.0.content.1: `thinking` blocks can only be in `assistant` messages",
      ],
      [
        messages(user, { role: "system", content: [document] }, user),
        "messages.1.content.0: `document` blocks can only be in `user` messages",
      ],
    ],
    version_2026_10_21: [
      ...["temperature", "top_p", "top_k"].map((name) =>
        [{ [name]: 1 }, `${name}: not supported by version 2026-10-21`] as const
      ),
      [{ [THOUGHT]: document }, `${THOUGHT}: \`document\` blocks are not permitted in assistant messages`],
      [
        one({ ...words, citations: [] }),
        "messages.0.content.0.text.citations: not permitted in user messages",
      ],
    ],
    max_tokens: [
      [{ max_tokens: -1 }, "max_tokens: Input should be greater than or equal to 0"],
    ],
    thinking_config: [
      [
        { thinking: { type: "deep" } },
        `thinking: Input tag 'deep' ${UNKNOWN_TAG}: 'adaptive', 'enabled', 'disabled', 'between_tools'`,
      ],
      [
        { thinking: { type: "enabled", budget_tokens: 1023 } },
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
      ],
      [
        { thinking: { type: "enabled", budget_tokens: 2048 } },
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
      ],
    ],
    output_config: [
      [
        { output_config: { format: { type: "json_object" } } },
        "output_config.format: Input should be of type 'json_schema' with a schema",
      ],
    ],
    tool_choice: [[
      { tools: [tool], tool_choice: { type: "required" } },
      `tool_choice: Input tag 'required' ${UNKNOWN_TAG}: 'auto', 'any', 'tool', 'none'`,
    ]],
    tool_name: [[
      { tools: [{ ...tool, name: "a.b" }] },
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ]],
    duplicate_tool: [[{ tools: [tool, tool] }, "tools: Tool names must be unique."]],
    cache_breakpoints: [[
      {
        ...messages(results(cached(words), cached(words))),
        ...cached({ system: [cached(words)], tools: [cached(tool)] }),
      },
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ]],
    first_message: [
      [messages(assistant(words), user), USER_FIRST],
      [messages(), "messages: at least one message is required"],
    ],
    empty_content: [
      [{ "messages.0.content": "" }, "messages: text content blocks must be non-empty"],
      [
        messages(user, assistant(), user),
        "messages: all messages must have non-empty content except for the optional final assistant message",
      ],
    ],
    tool_use_id: [[
      { [`${USE}.id`]: "a:1", "messages.2.content.0.tool_use_id": "a:1" },
      `${USE}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
    ]],
    duplicate_tool_use_id: [
      [messages(...LOOP, assistant(use), results(result)), "messages: `tool_use` ids must be unique"],
    ],
    tool_use_without_result: [
      [
        messages(user, assistant(thought, use, use2), user),
        `messages.1: ${UNANSWERED}: toolu_1, toolu_2. ${NEEDS_RESULT}`,
      ],
      // Another block is before the result.
      [{ "messages.2.content": [words, result] }, `messages.1: ${UNANSWERED}: toolu_1. ${NEEDS_RESULT}`],
      // Answered, but not at once.
      [
        messages(user, assistant(use), user, assistant(words), results(result)),
        `messages.1: ${UNANSWERED}: toolu_1. ${NEEDS_RESULT}`,
      ],
    ],
    result_without_tool_use: [[
      one(result),
      `messages.0.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: toolu_1. ${NEEDS_USE}`,
    ]],
    duplicate_result: [[
      { "messages.2.content": [result, result] },
      "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
    ]],
    server_result_without_use: [[
      messages(user, assistant(found, words), user),
      "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. " +
      "Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
    ]],
    server_use_without_result: [[
      messages(user, assistant(search, words), user),
      "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding " +
      "`web_search_tool_result` block",
    ]],
    signature: [
      [{ [`${THOUGHT}.signature`]: "Zm9yZ2Vk" }, `${THOUGHT}: Invalid \`signature\` in \`thinking\` block`],
      [
        { "messages.1.content.1.data": "Zm9yZ2Vk" },
        "messages.1.content.1: Invalid `data` in `redacted_thinking` block",
      ],
    ],
    prefill: [[
      messages(user, assistant(words)),
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    ]],
  },
  accepted: {
    "nothing but a warmed cache": { max_tokens: 0 },
    "results in another order, before text": messages(
      ...[user, assistant(thought, secret, words, use, use2), results(result2, result, words)],
    ),
    "a system message": messages(user, { role: "system", content: "Be brief." }, user),
    "the server's own tool with its result": messages(user, assistant(search, found, words), user),
    "a failed result with an image": {
      "messages.2.content": [{ ...result, is_error: true, content: [words, { type: "image", source: {} }] }],
    },
    "a compaction": messages(
      user,
      assistant({ type: "compaction", content: "So far.", any: 1 }, words),
      user,
    ),
    "all settings": cached({
      ...messages(results(cached(words))),
      system: [cached({ type: "text", text: "Be brief." })],
      tools: [cached({ ...tool, description: "", strict: true }), { type: "web_search_20260318", name: "w" }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
      output_config: { effort: "xhigh", format: { type: "json_schema", schema: {} } },
      metadata: { user_id: "u" },
      stop_sequences: ["."],
    }),
    "adaptive thinking": { ...messages(...ENDED), thinking: { type: "adaptive" } },
    "thinking between tools": { thinking: { type: "between_tools" } },
    "binding controls with their header": sent(adaptive("drop_block"), { headers: BINDING }),
    "a turn of a thread that the server holds": sent(
      { ...one(result), thread: { type: "continue", previous_message_id: "msg_1" } },
      { headers: { ...HEADERS, "anthropic-beta": "message-threads-2026-08-12" } },
    ),
    "sampling and citations under the older version": sent(
      {
        temperature: 1,
        top_p: 0.99,
        ...messages(results({ ...words, citations: [] }), assistant(document), user),
      },
      { headers: { "anthropic-version": "2023-06-01" } },
    ),
  },
  forms: [
    [{ thinking: { type: "adaptive", display: "updates" } }, {
      thinking: { type: "adaptive", display: "full" },
    }],
    [{ mood: 1 }, { tone: 1 }],
    [one({ ...words, mood: "x" }), one({ ...words, tone: "x" })],
    [one({ type: "video" }), one({ type: "audio" })],
  ],
  ignored: "service_tier",
};

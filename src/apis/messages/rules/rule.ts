/** The rules of the Anthropic Messages API, and the errors for requests that break them. */
import type { ApiRule, FoundViolation } from "../../rule.ts";

/** A violation of a rule. */
export type MessagesViolation = FoundViolation<MessagesRuleName>;

export const MESSAGES_RULES = [
  {
    name: "body_object",
    summary: "The body is a JSON object",
    section: "§9",
    grade: "types",
  },
  {
    name: "well_formed",
    summary: "No string holds a lone surrogate",
    section: "§6.1",
    grade: "third_party",
  },
  {
    name: "version_header",
    summary: "The header `anthropic-version` names a version",
    section: "§9",
    grade: "docs",
  },
  {
    name: "missing_field",
    summary: "Required fields of the request, its blocks and its tools are there",
    section: "§9, §10",
    grade: "types",
  },
  {
    name: "field_type",
    summary: "Fields have the type that the official types give them",
    section: "§9, §10",
    grade: "types",
  },
  {
    name: "thinking_cache_control",
    summary: "A thinking block has no `cache_control`",
    section: "§11",
    grade: "docs",
  },
  {
    name: "block_binding_header",
    summary: "`thinking.block_binding` comes with the beta header of binding controls only",
    section: "§11",
    grade: "docs",
    exactText: true,
  },
  {
    name: "unknown_field",
    summary: "No member is sent that the request, a block or a tool does not have",
    section: "§11",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "role",
    summary: "A message is from the user, the assistant or the system",
    section: "§9",
    grade: "types",
  },
  {
    name: "block_type",
    summary: "Every block has a type that the API knows",
    section: "§10",
    grade: "types",
  },
  {
    name: "block_role",
    summary: "A block is in a message of a role that may send it",
    section: "§9, §11",
    grade: "types",
  },
  {
    name: "version_2026_10_21",
    summary:
      "Under version 2026-10-21: no sampling fields, no document of the assistant, no citations of the user",
    section: "§9",
    grade: "docs",
  },
  {
    name: "max_tokens",
    summary: "`max_tokens` is at least 1, or 0 to warm the cache only",
    section: "§9",
    grade: "types",
  },
  {
    name: "thinking_config",
    summary: "`thinking` has a known type; a budget is at least 1024 and less than `max_tokens`",
    section: "§9",
    grade: "types",
  },
  {
    name: "output_config",
    summary: "`output_config` has a known effort and format",
    section: "§9",
    grade: "types",
  },
  {
    name: "tool_choice",
    summary: "`tool_choice` is auto, any, none, or a tool by its name",
    section: "§9",
    grade: "types",
  },
  {
    name: "tool_name",
    summary: "A tool's name has letters, digits, `_` and `-` only",
    section: "§9",
    grade: "third_party",
  },
  {
    name: "duplicate_tool",
    summary: "No two tools have one name",
    section: "§9",
    grade: "third_party",
  },
  {
    name: "cache_breakpoints",
    summary: "At most 4 blocks carry `cache_control`, the request's own one counted",
    section: "§9",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "first_message",
    summary: "The first message is the user's",
    section: "§9",
    grade: "third_party",
  },
  {
    name: "empty_content",
    summary: "No message is empty, and no text block",
    section: "§10",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "tool_use_id",
    summary: "A `tool_use` id has letters, digits, `_` and `-` only",
    section: "§10",
    grade: "third_party",
  },
  {
    name: "duplicate_tool_use_id",
    summary: "No two `tool_use` blocks have one id",
    section: "§10",
    grade: "third_party",
    isOfHistory: true,
  },
  {
    name: "tool_use_without_result",
    summary: "Every `tool_use` is answered in the next user message, before any other block",
    section: "§11",
    grade: "docs",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "result_without_tool_use",
    summary: "Every `tool_result` answers a `tool_use` of the assistant message before it",
    section: "§11",
    grade: "docs",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "duplicate_result",
    summary: "A `tool_use` is answered once",
    section: "§11",
    grade: "third_party",
    isOfHistory: true,
  },
  {
    name: "server_result_without_use",
    summary: "The result of a server's tool comes after its use, in the same turn",
    section: "§10",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "server_use_without_result",
    summary: "The use of a server's tool comes with its result, unless its turn continues",
    section: "§10",
    grade: "third_party",
    isOfHistory: true,
  },
  {
    name: "signature",
    summary: "Thinking goes back as it came, with the signature that it came with",
    section: "§11",
    grade: "docs",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "signature_bound",
    summary: "On prefix-bound models, everything before a thinking block is unchanged",
    section: "§11",
    grade: "docs",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "prefill",
    summary: "The last message is not the assistant's, unless the API paused in it",
    section: "§9, §10",
    grade: "types",
  },
] as const satisfies readonly ApiRule[];

export type MessagesRuleName = (typeof MESSAGES_RULES)[number]["name"];

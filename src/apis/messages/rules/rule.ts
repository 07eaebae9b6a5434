/** The rules of the Anthropic Messages API, and the errors for requests that break them. */
import { type FoundViolation, rulesOf } from "../../rule.ts";

export type MessagesViolation = FoundViolation<MessagesRuleName>;
export type MessagesViolations = Iterable<MessagesViolation>;

export const MESSAGES_RULES = rulesOf({
  body_object: ["§9: types", "The body is a JSON object"],
  well_formed: ["§6.1: third_party", "No string holds a lone surrogate"],
  version_header: ["§9: docs", "The header `anthropic-version` names a version"],
  missing_field: ["§9, §10: types", "Required fields of the request, its blocks and its tools are there"],
  field_type: ["§9, §10: types", "Fields have the type that the official types give them"],
  thinking_cache_control: ["§11: docs", "A thinking block has no `cache_control`"],
  block_binding_header: [
    "§11: docs exact",
    "`thinking.block_binding` comes with the beta header of binding controls only",
  ],
  unknown_field: [
    "§11: third_party exact",
    "No member is sent that the request, a block or a tool does not have",
  ],
  role: ["§9: types", "A message is from the user, the assistant or the system"],
  block_type: ["§10: types", "Every block has a type that the API knows"],
  block_role: ["§9, §11: types", "A block is in a message of a role that may send it"],
  version_2026_10_21: [
    "§9: docs",
    "Under version 2026-10-21: no sampling fields, no document of the assistant, no citations of the user",
  ],
  max_tokens: ["§9: types", "`max_tokens` is at least 1, or 0 to warm the cache only"],
  thinking_config: [
    "§9: types",
    "`thinking` has a known type; a budget is at least 1024 and less than `max_tokens`",
  ],
  output_config: ["§9: types", "`output_config` has a known effort and format"],
  tool_choice: ["§9: types", "`tool_choice` is auto, any, none, or a tool by its name"],
  tool_name: ["§9: third_party", "A tool's name has letters, digits, `_` and `-` only"],
  duplicate_tool: ["§9: third_party", "No two tools have one name"],
  cache_breakpoints: [
    "§9: third_party exact",
    "At most 4 blocks carry `cache_control`, the request's own one counted",
  ],
  first_message: ["§9: third_party", "The first message is the user's"],
  empty_content: ["§10: third_party exact", "No message is empty, and no text block"],
  tool_use_id: ["§10: third_party", "A `tool_use` id has letters, digits, `_` and `-` only"],
  duplicate_tool_use_id: ["§10: third_party history", "No two `tool_use` blocks have one id"],
  tool_use_without_result: [
    "§11: docs exact history",
    "Every `tool_use` is answered in the next user message, before any other block",
  ],
  result_without_tool_use: [
    "§11: docs exact history",
    "Every `tool_result` answers a `tool_use` of the assistant message before it",
  ],
  duplicate_result: ["§11: third_party history", "A `tool_use` is answered once"],
  server_result_without_use: [
    "§10: third_party exact history",
    "The result of a server's tool comes after its use, in the same turn",
  ],
  server_use_without_result: [
    "§10: third_party history",
    "The use of a server's tool comes with its result, unless its turn continues",
  ],
  signature: [
    "§11: docs exact history",
    "Thinking goes back as it came, with the signature that it came with",
  ],
  signature_bound: [
    "§11: docs exact history",
    "On prefix-bound models, everything before a thinking block is unchanged",
  ],
  prefill: ["§9, §10: types", "The last message is not the assistant's, unless the API paused in it"],
});

type MessagesRuleName = (typeof MESSAGES_RULES)[number]["name"];

/** The blocks, tools and fields of the Messages API (protocol §9, §10). */
import { words } from "../../../domain/text.ts";
import { members, membersByType } from "../../rule.ts";

/** The role that may send a block. */
type BlockRole = "user" | "assistant" | "both";

/** Members of blocks by type; `type` is always known. Those of the server's tools are known by type only: they replay verbatim. */
export const BLOCKS = membersByType({
  text: "text citations? cache_control?",
  image: "source cache_control? transformations?",
  document: "source cache_control? citations? context? title?",
  search_result: "content source title cache_control? citations?",
  tool_result: "tool_use_id content? is_error? cache_control? toolset_name?",
  container_upload: "file_id cache_control?",
  thinking: "signature thinking",
  redacted_thinking: "data",
  tool_use: "id input name cache_control? caller? toolset_name?",
});

const ROLES: Readonly<Record<string, BlockRole>> = {
  image: "user",
  search_result: "user",
  tool_result: "user",
  thinking: "assistant",
  redacted_thinking: "assistant",
  tool_use: "assistant",
};

/** Blocks of the assistant that replay verbatim, in addition to results of the server's tools. */
const OPAQUE_TYPES = new Set(["server_tool_use", "mcp_tool_use", "compaction", "fallback"]);

/** Members of blocks that hold ids, names and text: always strings. */
export const STRING_MEMBERS: readonly string[] = words(`
  text thinking signature data id name tool_use_id
`);

/** The role that may send blocks of this type; `undefined` for an unknown type. */
export function roleOfBlock(type: string): BlockRole | undefined {
  if (isServerResult(type) || OPAQUE_TYPES.has(type)) return "assistant";
  return BLOCKS.has(type) ? ROLES[type] ?? "both" : undefined;
}

/** True for uses of tools that the server runs itself. */
export function isServerUse(type: string): boolean {
  return type === "server_tool_use" || type === "mcp_tool_use";
}

/** True for results of tools that the server runs itself: `web_search_tool_result` and its like. */
export function isServerResult(type: string): boolean {
  return type.endsWith("_tool_result");
}

export function isThinking(type: string): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

export const REQUEST = members(`
  model max_tokens messages
  cache_control? container? diagnostics? inference_geo? metadata? output_config? service_tier? speed?
  stop_sequences? stream? system? temperature? thinking? tool_choice? tools? top_k? top_p? user_profile_id?
  workspace_id?
`);

/** Fields that need a beta header. */
export const BETA_FIELDS: readonly string[] = words(`
  billing_policy compaction context_management fallback_credit_token fallbacks mcp_servers
  output_format thread
`);

export const MESSAGE = members("role content");

export const TOOL = members(`
  name input_schema
  type? description? strict? cache_control? allowed_callers? defer_loading? eager_input_streaming?
  input_examples?
`);

export const THINKING = membersByType({
  adaptive: "display?",
  enabled: "budget_tokens display?",
  disabled: "",
  between_tools: "",
});

export const TOOL_CHOICES = membersByType({
  auto: "disable_parallel_tool_use?",
  any: "disable_parallel_tool_use?",
  tool: "name disable_parallel_tool_use?",
  none: "",
});

export const OUTPUT_CONFIG = members("effort? format?");
export const METADATA = members("user_id?");
export const CACHE_CONTROL = members("type ttl?");

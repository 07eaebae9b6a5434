/** The blocks, tools and fields of the Messages API (protocol §9, §10). */
import { words } from "../../../domain/text.ts";

/** Members of one kind of object; `type` is always known. */
export interface ObjectShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** The role that may send a block. */
export type BlockRole = "user" | "assistant" | "both";

export interface BlockShape extends ObjectShape {
  readonly role: BlockRole;
}

/** Block types by name. Blocks of the server's tools are known by type only: they replay verbatim. */
const BLOCK_SHAPES: ReadonlyMap<string, BlockShape> = new Map(Object.entries(
  {
    text: { role: "both", required: ["text"], optional: ["citations", "cache_control"] },
    image: { role: "user", required: ["source"], optional: ["cache_control", "transformations"] },
    document: {
      role: "both",
      required: ["source"],
      optional: ["cache_control", "citations", "context", "title"],
    },
    search_result: {
      role: "user",
      required: ["content", "source", "title"],
      optional: ["cache_control", "citations"],
    },
    tool_result: {
      role: "user",
      required: ["tool_use_id"],
      optional: ["content", "is_error", "cache_control", "toolset_name"],
    },
    container_upload: { role: "both", required: ["file_id"], optional: ["cache_control"] },
    thinking: { role: "assistant", required: ["signature", "thinking"], optional: [] },
    redacted_thinking: { role: "assistant", required: ["data"], optional: [] },
    tool_use: {
      role: "assistant",
      required: ["id", "input", "name"],
      optional: ["cache_control", "caller", "toolset_name"],
    },
  } satisfies Record<string, BlockShape>,
));

/** Blocks of the assistant that replay verbatim, in addition to results of the server's tools. */
const OPAQUE_TYPES = new Set(["server_tool_use", "mcp_tool_use", "compaction", "fallback"]);

/** Members of blocks that hold ids, names and text: always strings. */
export const STRING_MEMBERS: readonly string[] = words(`
  text thinking signature data id name tool_use_id
`);

/** The shape of a block type; `undefined` if its members are not listed. */
export function blockShape(type: string): BlockShape | undefined {
  return BLOCK_SHAPES.get(type);
}

/** The role that may send blocks of this type; `undefined` for an unknown type. */
export function roleOfBlock(type: string): BlockRole | undefined {
  if (isServerResult(type) || OPAQUE_TYPES.has(type)) return "assistant";
  return BLOCK_SHAPES.get(type)?.role;
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

export const REQUEST_SHAPE: ObjectShape = {
  required: ["model", "max_tokens", "messages"],
  optional: words(`
    cache_control container diagnostics inference_geo metadata output_config service_tier speed
    stop_sequences stream system temperature thinking tool_choice tools top_k top_p user_profile_id
    workspace_id
  `),
};

/** Fields that need a beta header. */
export const BETA_FIELDS: readonly string[] = words(`
  billing_policy compaction context_management fallback_credit_token fallbacks mcp_servers
  output_format thread
`);

export const TOOL_SHAPE: ObjectShape = {
  required: ["name", "input_schema"],
  optional: words(`
    type description strict cache_control allowed_callers defer_loading eager_input_streaming
    input_examples
  `),
};

export const THINKING_SHAPES: ReadonlyMap<string, ObjectShape> = new Map(Object.entries({
  adaptive: { required: [], optional: ["display"] },
  enabled: { required: ["budget_tokens"], optional: ["display"] },
  disabled: { required: [], optional: [] },
  between_tools: { required: [], optional: [] },
}));

export const TOOL_CHOICE_SHAPES: ReadonlyMap<string, ObjectShape> = new Map(Object.entries({
  auto: { required: [], optional: ["disable_parallel_tool_use"] },
  any: { required: [], optional: ["disable_parallel_tool_use"] },
  tool: { required: ["name"], optional: ["disable_parallel_tool_use"] },
  none: { required: [], optional: [] },
}));

export const OUTPUT_CONFIG_SHAPE: ObjectShape = { required: [], optional: ["effort", "format"] };
export const METADATA_SHAPE: ObjectShape = { required: [], optional: ["user_id"] };
export const CACHE_CONTROL_SHAPE: ObjectShape = { required: ["type"], optional: ["ttl"] };

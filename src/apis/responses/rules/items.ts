/** The input items of the Responses API, and the fields of each (protocol §2.1, §2.3). */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";

export interface ItemShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** The start of ids of this type; absent if no rule is known. */
  readonly prefix?: string;
}

/** An input item with its place and its type; a message may leave `type` out. */
export interface PlacedItem {
  readonly index: number;
  readonly type: string;
  readonly item: JsonObject;
}

const CALL_EXTRAS = ["id", "status", "caller"] as const;

/** Item types by name. For items of hosted tools, which have many fields, only required fields are listed. */
export const ITEM_SHAPES: ReadonlyMap<string, ItemShape> = new Map(Object.entries(
  {
    message: { required: ["role", "content"], optional: ["type", "id", "status", "phase"], prefix: "msg" },
    reasoning: {
      required: ["id", "summary"],
      optional: ["encrypted_content", "content", "status"],
      prefix: "rs",
    },
    function_call: {
      required: ["call_id", "name", "arguments"],
      optional: [...CALL_EXTRAS, "namespace", "async"],
      prefix: "fc",
    },
    function_call_output: {
      required: ["output"],
      optional: ["call_id", ...CALL_EXTRAS, "name", "namespace"],
    },
    custom_tool_call: {
      required: ["call_id", "name", "input"],
      optional: ["id", "namespace", "caller", "async"],
      prefix: "ctc",
    },
    custom_tool_call_output: { required: ["call_id", "output"], optional: ["id", "caller"] },
    compaction: { required: ["encrypted_content"], optional: ["id"], prefix: "cmp" },
    compaction_trigger: { required: [], optional: ["id"] },
    configuration_update: { required: [], optional: ["reasoning", "text", "id"] },
    item_reference: { required: ["id"], optional: [] },
    shell_call: { required: ["call_id", "action"], optional: [...CALL_EXTRAS, "environment"] },
    shell_call_output: { required: ["call_id", "output"], optional: [...CALL_EXTRAS, "max_output_length"] },
    local_shell_call: { required: ["id", "call_id", "status", "action"], optional: [] },
    local_shell_call_output: { required: ["id", "output"], optional: ["status"] },
    apply_patch_call: {
      required: ["call_id", "status", "operation"],
      optional: ["id", "caller"],
      prefix: "apc",
    },
    apply_patch_call_output: { required: ["call_id", "status"], optional: ["id", "output", "caller"] },
  } satisfies Record<string, ItemShape>,
));

/** Types whose fields are not listed here: hosted tools replay verbatim. */
const OPAQUE_TYPES = new Set([
  ...[
    "computer_call",
    "computer_call_output",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
  ],
  "image_generation_call",
  "mcp_list_tools",
  "mcp_call",
  "mcp_approval_request",
  "mcp_approval_response",
  "tool_search_call",
  "tool_search_output",
  "tool_search_call_output",
  "additional_tools",
  "program",
  "program_output",
]);

export function isKnownItemType(type: string): boolean {
  return ITEM_SHAPES.has(type) || OPAQUE_TYPES.has(type);
}

/** The objects of `input` with their places; empty for a string. */
export function placedItems(input: JsonValue | undefined): PlacedItem[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item, index) => isJsonObject(item) ? [{ index, type: typeOf(item), item }] : []);
}

/**
 * True for output of the model, which can follow reasoning. A message counts only with its id: the same text without an
 * id was refused, while calls need no id (protocol §6.2).
 */
export function canFollowReasoning({ type, item }: PlacedItem): boolean {
  if (type === "message") return item.role === "assistant" && typeof item.id === "string";
  return OUTPUT_TYPES.has(type) || type.endsWith("_call");
}

const OUTPUT_TYPES = new Set([
  "reasoning",
  "compaction",
  "mcp_list_tools",
  "mcp_approval_request",
  "program",
]);

function typeOf(item: JsonObject): string {
  if (typeof item.type === "string") return item.type;
  return typeof item.role === "string" ? "message" : "item_reference";
}

/** The input items of the Responses API, and the fields of each (protocol §2.1, §2.3). */
import { words } from "../../../domain/text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { membersByType, type RuleSet } from "../../rule.ts";
import type { KnownBlobs } from "./known_items.ts";

/** An input item with its place and its type; a message may leave `type` out. */
export interface PlacedItem {
  readonly index: number;
  readonly type: string;
  readonly item: JsonObject;
}

export interface ResponsesRequest {
  readonly body: JsonObject;
  readonly set: RuleSet;
  readonly items: readonly PlacedItem[];
  /** Items that the server is known to have issued; `null` checks none. */
  readonly known: KnownBlobs | null;
}

/** Members of items by type; `type` is always known. */
export const ITEMS = membersByType({
  message: "role content id? status? phase?",
  reasoning: "id summary encrypted_content? content? status?",
  function_call: "call_id name arguments id? status? caller? namespace? async?",
  function_call_output: "output call_id? id? status? caller? name? namespace?",
  custom_tool_call: "call_id name input id? namespace? caller? async?",
  custom_tool_call_output: "call_id output id? caller?",
  compaction: "encrypted_content id?",
  compaction_trigger: "id?",
  configuration_update: "reasoning? text? id?",
  item_reference: "id",
  shell_call: "call_id action id? status? caller? environment?",
  shell_call_output: "call_id output id? status? caller? max_output_length?",
  local_shell_call: "id call_id status action",
  local_shell_call_output: "id output status?",
  apply_patch_call: "call_id status operation id? caller?",
  apply_patch_call_output: "call_id status id? output? caller?",
});

/** The starts of ids of types for which a rule is known. */
export const ID_PREFIXES: ReadonlyMap<string, string> = new Map(Object.entries({
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
  compaction: "cmp",
  apply_patch_call: "apc",
}));

/** Types of hosted tools, whose items replay verbatim. */
const OPAQUE_TYPES: ReadonlySet<string> = new Set(words(`
  computer_call computer_call_output web_search_call file_search_call code_interpreter_call
  image_generation_call mcp_list_tools mcp_call mcp_approval_request mcp_approval_response tool_search_call
  tool_search_output tool_search_call_output additional_tools program program_output
`));

export function isKnownItemType(type: string): boolean {
  return ITEMS.has(type) || OPAQUE_TYPES.has(type);
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

const OUTPUT_TYPES: ReadonlySet<string> = new Set(
  words("reasoning compaction mcp_list_tools mcp_approval_request program"),
);

function typeOf(item: JsonObject): string {
  if (typeof item.type === "string") return item.type;
  return typeof item.role === "string" ? "message" : "item_reference";
}

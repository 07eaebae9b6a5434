/** Reads items of either API: Responses items (protocol §2) and Messages content blocks (§10). */
import type { Item } from "./event.ts";
import { isJsonObject, type JsonObject, type JsonValue, parsedObject } from "./json.ts";

/** The item of an `output_item` event: its member `item`, which some servers call `output_item`. */
export function eventItem(payload: JsonObject): JsonValue | undefined {
  return payload.item ?? payload.output_item;
}

/** True when `value` can be kept as an item. */
export function isItem(value: unknown): value is Item {
  return isJsonObject(value) && typeof value.type === "string";
}

/** The event kind that keeps an item of this shape. */
type ItemKind = "reasoning" | "assistant_message" | "tool_call" | "provider_item";

/** Classifies an item of a response. A call without an id cannot be answered, so it is not a `tool_call`. */
export function itemKind(item: Item): ItemKind {
  switch (item.type) {
    case "reasoning":
    case "thinking":
    case "redacted_thinking":
      return "reasoning";
    case "message":
      return item.role === "assistant" ? "assistant_message" : "provider_item";
    case "text":
      return "assistant_message";
    case "function_call":
    case "custom_tool_call":
    case "tool_use":
      return callIdOf(item) === "" ? "provider_item" : "tool_call";
    default:
      return "provider_item";
  }
}

/** The id that the result of a call names; empty when the item has none. */
export function callIdOf(item: Item): string {
  const id = item.type.endsWith("tool_use") ? item.id : item.call_id;
  return typeof id === "string" ? id : "";
}

/** The name of the called tool; empty when the item has none. */
export function callNameOf(item: Item): string {
  return typeof item.name === "string" ? item.name : "";
}

/**
 * The arguments of a call as JSON text. A missing value becomes an empty object; a value other than a string is
 * written as JSON; text that is not JSON stays unchanged.
 */
export function callArgumentsOf(item: Item): string {
  const value: JsonValue | undefined = item.type === "function_call" ? item.arguments : item.input;
  if (value === undefined || value === null) return "{}";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** True if the arguments of a call are one JSON object. */
export function hasObjectArguments(item: Item): boolean {
  return parsedObject(callArgumentsOf(item)) !== null;
}

/** The visible text of an assistant message or text block, refusals included. */
export function messageTextOf(item: Item): string {
  if (item.type === "text") return typeof item.text === "string" ? item.text : "";
  if (typeof item.content === "string") return item.content;
  if (!Array.isArray(item.content)) return "";
  return item.content.map((part) => {
    if (!isJsonObject(part)) return "";
    const text = part.type === "refusal" ? part.refusal : part.text;
    return typeof text === "string" ? text : "";
  }).join("");
}

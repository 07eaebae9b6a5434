/** Folded entries as elements of `input`, with only the members that every server accepts (protocol §2.2–2.5). */
import { words } from "../../domain/text.ts";
import { attachmentIn, lostAttachment } from "../../domain/attachment.ts";
import type { Item } from "../../domain/event.ts";
import { objectOf } from "../../domain/exact_json.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import { callArgumentsOf, callNameOf, messageTextOf } from "../../domain/item.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { encodeElement, wireToolName, withoutMembers } from "../names.ts";

/** One element of `input` as JSON text. Members keep the order and the values of the stored item. */
export function encodeEntry(entry: FoldedEntry): string {
  return encodeElement(renderEntry(entry), ["encrypted_content"]);
}

/** Optional members of an element, by the kind of its entry (§2.2–2.5). */
const OPTIONAL_MEMBERS: { readonly [kind in FoldedEntry["kind"]]?: ReadonlySet<string> } = {
  assistant_message: new Set(["id", "phase"]),
  reasoning: new Set(["content"]),
  tool_call: new Set(["namespace"]),
};

/** True when `entry` is sent with the member `name` and can be sent without it. */
export function canOmitFromItem(entry: FoldedEntry, name: string): boolean {
  const optional = entry.kind === "provider_item"
    ? name !== "type"
    : OPTIONAL_MEMBERS[entry.kind]?.has(name) === true;
  return optional && Object.hasOwn(renderEntry(entry), name);
}

function renderEntry(entry: FoldedEntry): JsonObject {
  return withoutMembers(renderWhole(entry), "omit" in entry ? entry.omit : []);
}

function renderWhole(entry: FoldedEntry): JsonObject {
  switch (entry.kind) {
    case "user_message":
      return { type: "message", role: "user", content: entry.content.map(contentPart) };
    case "assistant_message":
      return renderMessage(entry.item, entry.keepId);
    case "reasoning":
      return renderReasoning(entry.item);
    case "tool_call":
      return renderCall(entry);
    case "tool_result":
      return {
        type: entry.callType === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output",
        call_id: entry.callId,
        output: entry.output,
      };
    case "provider_item":
      return renderProviderItem(entry.item);
  }
}

/** A part of the user's message; an attached file as an image or a file (§2.6). */
function contentPart(part: Item): Item {
  const attachment = attachmentIn(part);
  if (attachment === null) return part;
  const { name, mediaType, content } = attachment;
  if (content === null) return { type: "input_text", text: lostAttachment(attachment) };
  const url = `data:${mediaType};base64,${content.base64}`;
  return mediaType.startsWith("image/")
    ? { type: "input_image", detail: "auto", image_url: url }
    : { type: "input_file", filename: name, file_data: url };
}

/**
 * A `msg_` id makes the server demand the reasoning before it (§2.4), so it is sent only together with that reasoning.
 * Text of the other API becomes a message of one part.
 */
function renderMessage(item: Item, keepId: boolean): JsonObject {
  if (item.type !== "message") {
    const text = { type: "output_text", text: messageTextOf(item), annotations: [] };
    return { type: "message", role: "assistant", content: [text] };
  }
  return pick(item, {
    type: always,
    role: always,
    content: always,
    id: (value) => keepId && isText(value),
    phase: isText,
  });
}

function renderReasoning(item: Item): JsonObject {
  const kept = pick(item, {
    type: always,
    id: isText,
    encrypted_content: isText,
    summary: Array.isArray,
    content: (value) => Array.isArray(value) && value.length > 0,
  });
  return Object.hasOwn(kept, "summary") ? kept : { ...kept, summary: [] };
}

/** Omits the id of a call, which makes the server demand the reasoning item before the call (§2.4). */
function renderCall(
  { item, callId, repaired }: Extract<FoldedEntry, { readonly kind: "tool_call" }>,
): JsonObject {
  const name = wireToolName(callNameOf(item));
  const sent = repaired === true ? objectWith(callArgumentsOf(item)) : undefined;
  if (item.type === "tool_use") {
    return { type: "function_call", call_id: callId, name, arguments: sent ?? callArgumentsOf(item) };
  }
  const payload = item.type === "custom_tool_call" ? "input" : "arguments";
  const whole = { ...item, call_id: callId, name, [payload]: sent ?? payloadOf(item[payload], payload) };
  return pick(whole, { type: always, call_id: always, name: always, [payload]: always, namespace: isText });
}

/** Arguments as one JSON object, in which the model sees its own text. */
function objectWith(text: string): string {
  return text.trim() === "" ? "{}" : JSON.stringify({ INVALID_JSON: text });
}

/** The API refuses a call whose payload is missing or not a string (§2.1), though servers emit such calls. */
function payloadOf(value: JsonValue | undefined, payload: "input" | "arguments"): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return payload === "arguments" ? "{}" : "";
  return JSON.stringify(value);
}

/** Item types that servers return with a `status`, although some servers refuse it as input. */
const STATUS_IS_OUTPUT_ONLY: ReadonlySet<string> = new Set(words(`
  compaction custom_tool_call custom_tool_call_output function_call function_call_output message
  reasoning
`));

/**
 * Returns an item of an answer as it is sent back. Hosted tools and the older client-side ones require their `status` and
 * `id` (§2.2); other members are verbatim.
 */
export function renderProviderItem(item: Item): JsonObject {
  return withoutMembers(
    item,
    STATUS_IS_OUTPUT_ONLY.has(item.type) ? ["created_by", "status"] : ["created_by"],
  );
}

type Keeps = (value: JsonValue | undefined) => boolean;

const always: Keeps = () => true;
const isText: Keeps = (value) => typeof value === "string";

/** The members of an item that a table names, if their values are kept. */
function pick(item: JsonObject, table: Readonly<Record<string, Keeps>>): JsonObject {
  const kept = ([name, value]: [string, JsonValue | undefined]) =>
    Object.hasOwn(table, name) && table[name]?.(value) === true;
  return objectOf(Object.entries(item).filter(kept));
}

/** Folded entries as content blocks, with the members that Messages accepts as input (protocol §10, §11). */
import { type Attachment, attachmentIn, lostAttachment } from "../../domain/attachment.ts";
import type { Item } from "../../domain/event.ts";
import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  parsedObject,
  stringMember,
} from "../../domain/json.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import { callArgumentsOf, callNameOf, messageTextOf } from "../../domain/item.ts";
import { wireCallId, wireToolName, withoutMembers } from "../names.ts";

/** The blocks of an entry, in order; empty if Messages cannot represent it. */
export function renderEntry(entry: FoldedEntry): readonly JsonObject[] {
  const omit = "omit" in entry ? entry.omit : [];
  return renderWhole(entry).map((block) => withoutMembers(block, omit));
}

/** True when a block of `entry` is sent with the member `name` and can be sent without it. */
export function canOmitFromBlock(entry: FoldedEntry, name: string): boolean {
  const optional = entry.kind === "provider_item"
    ? name !== "type"
    : entry.kind === "assistant_message" && name === "citations";
  return optional && renderEntry(entry).some((block) => Object.hasOwn(block, name));
}

function renderWhole(entry: FoldedEntry): readonly JsonObject[] {
  switch (entry.kind) {
    case "user_message":
      return entry.content.flatMap(userBlock);
    case "assistant_message":
      return assistantBlocks(entry.item);
    case "reasoning":
      return thinkingBlock(entry.item);
    case "tool_call":
      return [callBlock(entry.item, entry.callId)];
    case "tool_result":
      return [{
        type: "tool_result",
        tool_use_id: wireCallId(entry.callId),
        ...(isBlank(entry.output) ? {} : { content: entry.output }),
        ...(entry.isError === true ? { is_error: true } : {}),
      }];
    case "provider_item":
      return [entry.item];
  }
}

/** True for text that the API refuses as the text of a block. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

function userBlock(part: Item): readonly JsonObject[] {
  if (part.type === "input_text") return textBlock(part.text);
  const attachment = attachmentIn(part);
  if (attachment !== null) return [attachmentBlock(attachment)];
  return textBlock(`[A part of type ${JSON.stringify(part.type)} is left out here]`);
}

/** An attached file as an image or a document (protocol §10). */
function attachmentBlock(attachment: Attachment): JsonObject {
  const { name, mediaType, content } = attachment;
  if (content === null) return { type: "text", text: lostAttachment(attachment) };
  const { base64, text } = content;
  const source = text === null
    ? { type: "base64", media_type: mediaType, data: base64 }
    : { type: "text", media_type: mediaType, data: text };
  return mediaType.startsWith("image/")
    ? { type: "image", source }
    : { type: "document", source, title: name };
}

/** A text block of this API with its citations, or the text parts of a Responses message. */
function assistantBlocks(item: Item): readonly JsonObject[] {
  if (item.type === "text") {
    const citations = Array.isArray(item.citations) ? { citations: item.citations } : {};
    return textBlock(item.text).map((block) => ({ ...block, ...citations }));
  }
  if (!Array.isArray(item.content)) return textBlock(messageTextOf(item));
  return item.content.flatMap((part) => textBlock(messageTextOf({ type: "message", content: [part] })));
}

function textBlock(text: JsonValue | undefined): readonly JsonObject[] {
  return typeof text !== "string" || isBlank(text) ? [] : [{ type: "text", text }];
}

/** Blocks of this API only: the server cannot read the reasoning of another API (§11). */
function thinkingBlock(item: Item): readonly JsonObject[] {
  if (item.type === "thinking") {
    const [thinking, signature] = [stringMember(item, "thinking"), stringMember(item, "signature")];
    return thinking === undefined || signature === undefined
      ? []
      : [{ type: item.type, thinking, signature }];
  }
  if (item.type !== "redacted_thinking") return [];
  const data = stringMember(item, "data");
  return data === undefined ? [] : [{ type: item.type, data }];
}

function callBlock(item: Item, callId: string): JsonObject {
  return {
    type: "tool_use",
    id: wireCallId(callId),
    name: wireToolName(callNameOf(item)),
    input: inputOf(item),
  };
}

/** The API accepts objects only: other input goes as text in an object, so that the model sees its own input. */
function inputOf(item: Item): JsonObject {
  const { input } = item;
  if (item.type === "tool_use" && isJsonObject(input) && !isRawNumber(input)) return input;
  const text = callArgumentsOf(item);
  if (item.type === "custom_tool_call") return { input: text };
  return parsedObject(text) ?? { INVALID_JSON: text };
}

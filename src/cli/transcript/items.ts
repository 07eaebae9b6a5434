/**
 * Items of sessions, requests and answers of any API as blocks. Files and recordings may hold anything, so every member
 * may be absent.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  objectsIn,
  parsedObject,
  plainText,
  stringMember,
} from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import { editIn } from "../edits.ts";
import {
  type Block,
  blockLine,
  type CallBlock,
  type Image,
  note,
  type ReasoningBlock,
  type ResultBlock,
} from "./blocks.ts";
import { partsText, plain } from "./words.ts";

/** An item as blocks. `from` is the role that wrote it, if it does not name one. */
export function itemBlocks(item: JsonObject, from: string, seq?: number): Block[] {
  const result = resultBlock(item);
  if (result !== null) return [{ ...result, seq }];
  if (isCall(item)) return [{ ...callBlock(item), seq }];
  if (isReasoning(item)) return [{ ...reasoningBlock(item), seq }];
  const isMessage = item.role !== undefined || item.type === "message";
  if (!isMessage) return contentBlocks([item], from, seq);
  const thought = stringMember(item, "reasoning_content") ?? stringMember(item, "reasoning");
  return [
    ...(thought === undefined ? [] : [reasoningBlock({ reasoning_content: thought })]),
    ...contentBlocks(item.content ?? item.refusal, stringMember(item, "role") ?? from, seq),
    ...objectsIn(item.tool_calls).map(callBlock),
  ];
}

/** The parts of a message: texts in a row are one block, images and parts of any other kind have one each. */
export function contentBlocks(content: JsonValue | undefined, from: string, seq?: number): Block[] {
  const blocks: Block[] = [];
  for (const part of typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content)) {
    const text = stringMember(part, "text") ?? stringMember(part, "refusal");
    const last = blocks.at(-1);
    if (isCall(part) || isReasoning(part) || resultBlock(part) !== null) {
      blocks.push(...itemBlocks(part, from, seq));
    } else if (text === undefined) {
      blocks.push(note(plain(part.type), { seq, image: imageIn(part) }));
    } else if (last?.kind === "message") {
      blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${text}` };
    } else blocks.push({ kind: "message", from, text, seq });
  }
  return blocks;
}

/** An image that is part of the data; `undefined` for an image elsewhere, which no view loads. */
function imageIn(part: JsonObject): Image | undefined {
  const source = objectMember(part, "source") ?? {};
  const url = part.image_url;
  const given = typeof url === "string" ? url : isJsonObject(url) ? stringMember(url, "url") : undefined;
  const src = given ??
    `data:${stringMember(source, "media_type")};base64,${stringMember(source, "data") ?? ""}`;
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(src) ? { src } : undefined;
}

/** The id of a call; `null` for any other item. */
export function shownCallId(item: JsonObject): string | null {
  return isCall(item) ? stringMember(item, "call_id") ?? stringMember(item, "id") ?? null : null;
}

function isCall({ type }: JsonObject): boolean {
  return /_call$|_use$|^function$|^custom$/.test(plainText(type));
}

/** The provider runs tools such as web search itself. */
function isHosted(item: JsonObject): boolean {
  return item.type === "server_tool_use" ||
    /_call$/.test(plainText(item.type)) && stringMember(item, "call_id") === undefined;
}

function isReasoning({ type }: JsonObject): boolean {
  return /^(?:reasoning|(?:redacted_)?thinking)$/.test(plainText(type));
}

/** The opaque part of a reasoning item, and its id: servers encrypt the same item twice. Empty without an opaque part. */
export function reasoningKeys(item: JsonObject): string[] {
  const opaque = ["encrypted_content", "signature", "data"].map((name) => stringMember(item, name))
    .find((text) => text !== undefined && text !== "");
  const id = stringMember(item, "id");
  return !isReasoning(item) || opaque === undefined ? [] : [opaque, ...(id === undefined ? [] : [id])];
}

export function reasoningBlock(item: JsonObject): ReasoningBlock {
  const keys = reasoningKeys(item);
  const [opaque] = keys;
  const size = opaque === undefined ? "not encrypted" : `${counted(opaque.length, "byte")} encrypted`;
  const id = stringMember(item, "id");
  const texts = [item.thinking, item.reasoning_content, item.summary, item.content];
  return {
    kind: "reasoning",
    about: `reasoning${id === undefined ? "" : ` ${id}`}, ${size}`,
    text: texts.map((text) => partsText(text, "\n\n")).filter((text) => text !== "").join("\n"),
    keys,
  };
}

/** UTF-16 units of a call's arguments that are shown beside its name. */
const SUBJECT_SHOWN = 200;

export function callBlock(item: JsonObject): CallBlock {
  const called = objectMember(item, "function") ?? objectMember(item, "custom") ?? item;
  const name = stringMember(called, "name") || stringMember(item, "type") || "?";
  const given = called.arguments ?? called.input ?? item.action ?? "";
  const key = isHosted(item) ? null : shownCallId(item);
  return { kind: "call", key, name, ...argumentsIn(name, given) };
}

/** The arguments of a call: those that fit beside its name, all others below, and the edit that they make. */
export function argumentsIn(name: string, given: JsonValue): Pick<CallBlock, "subject" | "text" | "edit"> {
  const args = typeof given === "string" ? parsedObject(given) : isJsonObject(given) ? given : null;
  if (args === null) {
    return { ...inLineOrBelow(typeof given === "string" ? given : JSON.stringify(given)), edit: null };
  }
  const edit = editIn(name, args);
  const shown = edit === null ? args : { path: edit.path };
  const members = Object.entries(shown).filter(([, value]) => value !== null && value !== undefined);
  const text = members.map(([member, value]) =>
    argumentText(member, value as JsonValue, members.length === 1)
  );
  return { ...inLineOrBelow(text.join(", ")), edit };
}

/** A call in a line. `given` are its arguments as text. */
export function callLine(name: string, given: string): string {
  return blockLine({ kind: "call", key: null, name, ...argumentsIn(name, given) });
}

/** Members that are clear without their name. */
const CLEAR = new Set(["path", "command"]);

function argumentText(name: string, value: JsonValue, isOnly: boolean): string {
  if (name === "argv" && Array.isArray(value)) return value.map(String).join(" ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return CLEAR.has(name) || isOnly && typeof value === "string" ? text : `${name}: ${text}`;
}

/** A text that is beside a name if it fits there, else below. */
export function inLineOrBelow(text: string): { subject: string; text: string } {
  return text.length <= SUBJECT_SHOWN && !text.includes("\n")
    ? { subject: text, text: "" }
    : { subject: "", text };
}

/** The result that a request returns for a call; `null` if the item is none. */
export function resultBlock(item: JsonObject): ResultBlock | null {
  const key = stringMember(item, "call_id") ?? stringMember(item, "tool_use_id") ??
    stringMember(item, "tool_call_id");
  const isResult = /_output$|_result$/.test(plainText(item.type)) || item.role === "tool";
  if (key === undefined || !isResult) return null;
  const isOk = item.is_error !== true;
  return {
    kind: "result",
    key,
    name: stringMember(item, "name") ?? "result",
    subject: "",
    isOk,
    status: isOk ? "returned" : "failed",
    text: partsText(item.output ?? item.content),
    blob: null,
  };
}

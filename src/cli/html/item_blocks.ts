/**
 * Items of any API as blocks of a page. Files and recordings may hold anything, so every member may be absent.
 *
 * @module
 */
import { sha256Hex } from "../../domain/hash.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import { editOf } from "./edits.ts";
import { richText } from "./markdown.ts";
import type { BlobFate, Block, Call, FateSpan } from "./page.ts";

/** Hex digits of a sha256 that identify a blob on a page. */
const SHOWN_DIGITS = 16;

/** Content of a message as blocks: texts rendered, images shown if they are part of it, other parts as JSON. */
export function contentBlocks(content: JsonValue | undefined, who: string, seq?: number): Block[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content);
  const place = seq === undefined ? {} : { seq };
  return parts.map((part): Block => {
    const text = stringMember(part, "text") ?? stringMember(part, "refusal");
    if (text !== undefined) return { type: "message", who, body: richText(text), ...place };
    const src = imageIn(part);
    if (src !== null) return { type: "image", name: stringMember(part, "type") ?? "image", src, ...place };
    return { type: "raw", name: stringMember(part, "type") ?? "part", text: pretty(part), ...place };
  });
}

/** The address of an image that is part of the data; `null` for an image elsewhere, which a page never loads. */
function imageIn(part: JsonObject): string | null {
  const source = objectMember(part, "source") ?? {};
  const url = part.image_url;
  const given = typeof url === "string" ? url : isJsonObject(url) ? stringMember(url, "url") : undefined;
  const src = given ??
    `data:${stringMember(source, "media_type")};base64,${stringMember(source, "data") ?? ""}`;
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(src) ? src : null;
}

/** A reasoning item: its summary, and length and hash of its opaque part. */
export function reasoningBlock(item: JsonObject, fate: readonly FateSpan[], seq?: number): Block {
  const text = [item.summary, item.content, item.thinking, item.reasoning_content].map(textOf)
    .filter((part) => part !== "").join("\n\n");
  const opaque = stringMember(item, "encrypted_content") ?? stringMember(item, "signature") ??
    stringMember(item, "data");
  const blob: BlobFate = {
    length: opaque?.length ?? 0,
    sha256: opaque === undefined ? null : sha256Hex(opaque).slice(0, SHOWN_DIGITS),
    fate,
  };
  return {
    type: "reasoning",
    summary: text === "" ? null : richText(text),
    blob,
    ...(seq === undefined ? {} : { seq }),
  };
}

/** A call. `result` and `decision` are those that belong to it. */
export function callBlock(
  item: JsonObject,
  { result, decision, seq }: Pick<Call, "result" | "decision"> & { readonly seq?: number },
): Block {
  const called = objectMember(item, "function") ?? objectMember(item, "custom") ?? item;
  const tool = stringMember(called, "name") ?? stringMember(item, "type") ?? "?";
  const given = stringMember(called, "arguments") ?? called.input ?? objectMember(item, "action") ?? "";
  const text = typeof given === "string" ? given : pretty(given);
  const edit = editOf(tool, text);
  return {
    type: "call",
    tool,
    args: edit === null ? text : "",
    path: edit?.path ?? null,
    diff: edit?.diff ?? null,
    decision,
    result,
    ...(seq === undefined ? {} : { seq }),
  };
}

/** The texts in a value of any API, one paragraph each; other parts as JSON. */
export function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return objectsIn(value).map((part) =>
    stringMember(part, "text") ?? stringMember(part, "refusal") ?? pretty(part)
  ).join("\n\n");
}

/** The objects in a list; empty for anything else. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A value as indented JSON. */
export function pretty(value: JsonValue): string {
  return JSON.stringify(value, null, 2);
}

/** Files that a user attaches to a message: their media types, and the part of a message that holds one. */
import { decodeUtf8Exactly } from "./bytes.ts";
import type { AttachmentEvent, Item, UserMessageEvent } from "./event.ts";
import { numberMember, objectMember, stringMember } from "./json.ts";
import { counted } from "./text.ts";

/** First bytes of each binary type that both APIs accept (protocol §2.6). */
const MAGIC: readonly { readonly type: string; readonly at: number; readonly bytes: readonly number[] }[] = [
  { type: "image/png", at: 0, bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: "image/jpeg", at: 0, bytes: [0xff, 0xd8, 0xff] },
  { type: "image/gif", at: 0, bytes: ascii("GIF87a") },
  { type: "image/gif", at: 0, bytes: ascii("GIF89a") },
  { type: "image/webp", at: 8, bytes: ascii("WEBP") },
  { type: "application/pdf", at: 0, bytes: ascii("%PDF-") },
];

/**
 * The media type of a file by its content: an image, `application/pdf`, or `text/plain` for UTF-8 without NUL; `null`
 * for everything else.
 */
export function mediaTypeOf(bytes: Uint8Array): string | null {
  const found = MAGIC.find(({ at, bytes: magic }) =>
    magic.every((byte, index) => bytes[at + index] === byte) &&
    (at === 0 || ascii("RIFF").every((byte, index) => bytes[index] === byte))
  );
  if (found !== undefined) return found.type;
  if (bytes.includes(0)) return null;
  try {
    decodeUtf8Exactly(bytes);
    return "text/plain";
  } catch {
    return null;
  }
}

function ascii(text: string): number[] {
  return [...text].map((letter) => letter.charCodeAt(0));
}

/** Content of an attachment, ready for a request. */
interface AttachmentContent {
  readonly base64: string;
  /** The same content as text, for the type `text/plain`. */
  readonly text: string | null;
}

export interface Attachment {
  readonly name: string;
  readonly mediaType: string;
  readonly sha256: string;
  readonly bytes: number;
  /** `null` until it is loaded, and if it is lost. */
  readonly content: AttachmentContent | null;
}

const PART = "attachment";

/** The content of a user message: the files attached to it, then its own parts. `events` are those of its turn. */
export function userContent(
  message: UserMessageEvent,
  events: readonly { readonly type: string }[],
): readonly Item[] {
  const attached: Item[] = [];
  for (let index = events.indexOf(message) - 1; events[index]?.type === PART; index--) {
    const { name, media_type, blob } = events[index] as AttachmentEvent;
    attached.unshift({ type: PART, name, media_type, blob: { ...blob } });
  }
  return attached.length === 0 ? message.content : [...attached, ...message.content];
}

/** Reads a part of a message; `null` for a part that is no attachment. */
export function attachmentIn(part: Item): Attachment | null {
  const blob = part.type === PART ? objectMember(part, "blob") : undefined;
  if (blob === undefined) return null;
  const base64 = stringMember(part, "base64");
  return {
    name: stringMember(part, "name") ?? "",
    mediaType: stringMember(part, "media_type") ?? "",
    sha256: stringMember(blob, "sha256") ?? "",
    bytes: numberMember(blob, "bytes") ?? 0,
    content: base64 === undefined ? null : { base64, text: stringMember(part, "text") ?? null },
  };
}

export function withContent(part: Item, { base64, text }: AttachmentContent): Item {
  return { ...part, base64, ...(text === null ? {} : { text }) };
}

/** One line about an attachment, for people and for models that do not get its content. */
export function attachmentNote({ name, media_type: type, blob }: AttachmentEvent): string {
  return `[attached file ${JSON.stringify(name)}: ${type}, ${counted(blob.bytes, "byte")}]`;
}

/** Text that replaces an attachment whose content is lost. */
export function lostAttachment({ name, mediaType }: Attachment): string {
  return `[The attached file ${JSON.stringify(name)} (${mediaType}) is lost]`;
}

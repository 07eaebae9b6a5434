/** Contents of attached files in requests: entries name a blob, and a request holds its bytes. */
import { Buffer } from "node:buffer";
import { attachmentIn, withContent } from "../domain/attachment.ts";
import { decodeUtf8Exactly } from "../domain/bytes.ts";
import type { EventDraft, Item } from "../domain/event.ts";
import type { FoldedEntry } from "../domain/folded.ts";

/** Reads a blob of the session; `null` for a blob that is recorded as lost. */
export type ReadBlob = (sha256: string) => Uint8Array | null;

export interface AttachedFile {
  /** Its name without directories. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** The event that keeps an attached file. */
export function attachmentEvent({ name, mediaType, bytes, sha256 }: AttachedFile): EventDraft {
  return { type: "attachment", name, media_type: mediaType, blob: { sha256, bytes: bytes.length } };
}

/** Entries with the contents of attached files. A lost file stays without content. */
export function withContents(entries: readonly FoldedEntry[], readBlob: ReadBlob): readonly FoldedEntry[] {
  if (!entries.some(hasAttachment)) return entries;
  return entries.map((entry) =>
    hasAttachment(entry)
      ? { ...entry, content: entry.content.map((part) => withBytes(part, readBlob)) }
      : entry
  );
}

function hasAttachment(entry: FoldedEntry): entry is FoldedEntry & { readonly kind: "user_message" } {
  return entry.kind === "user_message" && entry.content.some((part) => attachmentIn(part) !== null);
}

function withBytes(part: Item, readBlob: ReadBlob): Item {
  const attachment = attachmentIn(part);
  const bytes = attachment === null ? null : readBlob(attachment.sha256);
  if (attachment === null || bytes === null) return part;
  const { buffer, byteOffset, byteLength } = bytes;
  return withContent(part, {
    base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64"),
    text: attachment.mediaType === "text/plain" ? decodeUtf8Exactly(bytes) : null,
  });
}

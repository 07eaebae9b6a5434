/** Media types by content, and the place of attached files in a message. */
import assert from "node:assert/strict";
import { attachmentIn, mediaTypeOf, userContent, withContent } from "../../../src/domain/attachment.ts";
import type { AttachmentEvent, Item, UserMessageEvent } from "../../../src/domain/event.ts";

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

Deno.test("the content decides the media type of a file, whatever else it holds", () => {
  const cases = [
    ["\x89PNG\r\n\x1a\n\x00\xff", "image/png"],
    ["\xff\xd8\xff\xdb\x00", "image/jpeg"],
    ["GIF87a\x00", "image/gif"],
    ["GIF89a\xff", "image/gif"],
    ["RIFF\x00\x00\x00\x00WEBPVP8L", "image/webp"],
    ["%PDF-1.7\n\xe2\xe3", "application/pdf"],
    ["plain text", "text/plain"],
    ["\xc3\xa9\xe2\x82\xac", "text/plain"],
    ["\xef\xbb\xbfmark", "text/plain"],
    ["<svg/>", "text/plain"],
    ["", "text/plain"],
  ] as const;
  for (const [content, type] of cases) assert.equal(mediaTypeOf(bytes(content)), type, type);
});

Deno.test("a file that is neither an image, a PDF nor UTF-8 text has no media type", () => {
  const contents = [
    "\x7fELF\x02\x01\x01\x00",
    "RIFF\x00\x00\x00\x00WAVEfmt ",
    "RIXX\x00\x00\x00\x00WEBPVP8 ",
    "\x89PNG\r\n",
    "h\xe9",
    "a\x00b",
    "\xff\xfea\x00",
    "\xed\xa0\x80",
  ];
  for (const content of contents) assert.equal(mediaTypeOf(bytes(content)), null, JSON.stringify(content));
});

const BLOB = { sha256: "a".repeat(64), bytes: 3 };

function attached(seq: number, name: string): AttachmentEvent {
  return { seq, type: "attachment", name, media_type: "image/png", blob: BLOB };
}

function said(seq: number, text: string): UserMessageEvent {
  return { seq, type: "user_message", content: [{ type: "input_text", text }] };
}

Deno.test("attached files come before the parts of the next message of their turn, in their order", () => {
  const events = [attached(1, "a"), attached(2, "b"), said(3, "one"), said(4, "two"), attached(5, "c")];
  const names = (index: number) =>
    userContent(events[index] as UserMessageEvent, events).map((part) => part.name ?? part.text);
  assert.deepEqual(names(2), ["a", "b", "one"]);
  assert.deepEqual(names(3), ["two"]);
});

Deno.test("a part of a message is an attached file only if it names a blob", () => {
  const [part] = userContent(said(2, "Look"), [attached(1, "a"), said(2, "Look")]);
  assert.equal(part?.type, "input_text", "only events of the same turn count");
  const events = [attached(1, "a.png"), said(2, "Look")];
  const [file] = userContent(events[1] as UserMessageEvent, events) as readonly [Item];
  const expected = { name: "a.png", mediaType: "image/png", sha256: BLOB.sha256, bytes: 3 };
  assert.deepEqual(attachmentIn(file), { ...expected, content: null });
  const content = { base64: "YWJj", text: null };
  assert.deepEqual(attachmentIn(withContent(file, content)), { ...expected, content });
  assert.equal(attachmentIn({ type: "attachment", text: "of another program" }), null);
  assert.equal(attachmentIn({ type: "input_text", text: "", blob: BLOB }), null);
});

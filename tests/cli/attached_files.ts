/** Files for the tests of `--attach`, and the parts of a request that they become. */
import { Buffer } from "node:buffer";

/** Bytes that begin like a file of a type, followed by every other byte. */
function bytesOf(magic: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...Buffer.from(magic, "latin1"), ...Array.from({ length: 256 }, (_, byte) => byte)]);
}

/** A PNG image. */
export const PNG = bytesOf("\x89PNG\r\n\x1a\n");
/** A PDF document. */
export const PDF = bytesOf("%PDF-1.7\n");
const NOTES = "\ufeffZeile 1\r\nسلام 👩‍💻\r\n";
/** Files by name, one of each type. */
export const FILES: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "shot.png": PNG,
  // The content decides, not the name.
  "photo.txt": bytesOf("\xff\xd8\xff\xe0"),
  "move.gif": bytesOf("GIF89a"),
  "small.webp": bytesOf("RIFF\x10\x00\x00\x00WEBPVP8 "),
  "spec.pdf": PDF,
  "notes.md": new TextEncoder().encode(NOTES),
};
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Image files and their media types, in the order of {@linkcode FILES}. */
const IMAGES = IMAGE_TYPES.map((type, index) => ({ type, data: base64(Object.values(FILES)[index] ?? PNG) }));

/** Parts of a Responses message with {@linkcode FILES} and the text "Look"; a test of the clients checks their types. */
export const EXPECTED_PARTS = [
  ...IMAGES.map(({ type, data }) => ({
    type: "input_image" as const,
    detail: "auto" as const,
    image_url: `data:${type};base64,${data}`,
  })),
  {
    type: "input_file" as const,
    filename: "spec.pdf",
    file_data: `data:application/pdf;base64,${base64(PDF)}`,
  },
  {
    type: "input_file" as const,
    filename: "notes.md",
    file_data: `data:text/plain;base64,${base64(FILES["notes.md"] as Uint8Array)}`,
  },
  { type: "input_text" as const, text: "Look" },
];

/** Blocks of a Messages message with the same files; a test of the clients checks their types. */
export const EXPECTED_BLOCKS = [
  ...IMAGES.map(({ type, data }) => ({
    type: "image" as const,
    source: { type: "base64" as const, media_type: type, data },
  })),
  {
    type: "document" as const,
    source: { type: "base64" as const, media_type: "application/pdf" as const, data: base64(PDF) },
    title: "spec.pdf",
  },
  {
    type: "document" as const,
    source: { type: "text" as const, media_type: "text/plain" as const, data: NOTES },
    title: "notes.md",
  },
  { type: "text" as const, text: "Look" },
];

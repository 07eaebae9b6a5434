/** Bytes and their texts. Stateless: a stream that may split a character needs a `TextDecoder` of its own. */

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true });
const strictWithMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder();
const lenientWithMark = new TextDecoder("utf-8", { ignoreBOM: true });
/** In the text of bytes that are not UTF-8. A strict decoder takes three times as long as looking for it. */
const REPLACEMENT = "\ufffd";
const latin1 = new TextDecoder("latin1");

/** Encodes text as UTF-8; a lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/**
 * Decodes UTF-8, without a byte order mark at the start.
 *
 * @throws {TypeError} if the bytes are not UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  const text = lenient.decode(bytes);
  return text.includes(REPLACEMENT) ? strict.decode(bytes) : text;
}

/**
 * Decodes UTF-8 and keeps a byte order mark, so that encoding the text restores the bytes.
 *
 * @throws {TypeError} if the bytes are not UTF-8.
 */
export function decodeUtf8Exactly(bytes: Uint8Array): string {
  const text = lenientWithMark.decode(bytes);
  return text.includes(REPLACEMENT) ? strictWithMark.decode(bytes) : text;
}

/** Decodes UTF-8 without a byte order mark; bytes that are not UTF-8 become U+FFFD. */
export function decodeUtf8Leniently(bytes: Uint8Array): string {
  return lenient.decode(bytes);
}

/** Decodes UTF-8 like {@linkcode decodeUtf8Leniently}, and keeps a byte order mark. */
export function decodeUtf8WithMark(bytes: Uint8Array): string {
  return lenientWithMark.decode(bytes);
}

/** Decodes one character for each byte (the web's latin1, which is windows-1252): for searches by offset. */
export function decodeLatin1(bytes: Uint8Array): string {
  return latin1.decode(bytes);
}

/** True for a byte of UTF-8 that continues a character. */
export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** `bytes` without a character of UTF-8 that is cut off at its end: a cut of ours must not look like a foreign one. */
export function withoutCutEnd(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Joins byte arrays into a new one. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Reads a stream of bytes whole; `null` as soon as it has more than `maxBytes`. */
export async function readCapped(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const read: Uint8Array[] = [];
  let total = 0;
  for await (const piece of pieces) {
    total += piece.length;
    if (total > maxBytes) return null;
    read.push(piece);
  }
  return concatBytes(read);
}

/**
 * The lines of an export: a header, each file with its content in pieces, and an end line with the sha256 of all
 * lines before it
 * (docs/format.md "Exports").
 */
import { decodeUtf8Exactly, encodeUtf8 } from "../../domain/bytes.ts";
import { Buffer } from "node:buffer";
import { isJsonObject, type JsonObject, stringMember } from "../../domain/json.ts";
import { isTooDeep } from "../../domain/json_depth.ts";

/** The format name that the first line names. */
export const EXPORT_FORMAT = "reprise.export/1";
/** The longest line that is read, in bytes: a piece of 256 KiB in which every byte is escaped, and room. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;

/** One line with its newline. */
export function encodeLine(value: object): Uint8Array {
  return encodeUtf8(`${JSON.stringify(value)}\n`);
}

/** A file's content as lines: `text` for turns, so that grep and diff work, `base64` for arbitrary bytes. */
export function* contentLines(chunks: Iterable<Uint8Array>, as: "text" | "base64"): Generator<Uint8Array> {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (as === "base64") {
      yield encodeLine({
        base64: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("base64"),
      });
    } else yield encodeLine({ text: text.decode(chunk, { stream: true }) });
  }
}

/** Error about a line of an export; the importer adds the line's number. */
export class BadExport extends Error {
  override readonly name = "BadExport";
}

/** Parses a line as an object. Refuses deep nesting first, which would make the parser recurse. */
export function parseLine(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    const text = decodeUtf8Exactly(bytes);
    if (isTooDeep(text)) throw new BadExport("nests too deep");
    value = JSON.parse(text);
  } catch (error) {
    throw error instanceof BadExport ? error : new BadExport("is not JSON in UTF-8");
  }
  if (!isJsonObject(value)) throw new BadExport("is not a JSON object");
  return value;
}

/** The bytes that a content line represents. */
export function lineContent(line: JsonObject): Uint8Array {
  const text = stringMember(line, "text");
  if (text !== undefined) return encodeUtf8(text);
  const base64 = stringMember(line, "base64");
  if (base64 === undefined) throw new BadExport("is not content, where a file has more to come");
  return Buffer.from(base64, "base64");
}

const NEWLINE = 0x0a, RETURN = 0x0d;

/** A line as it was written: editors, mail and Git for Windows change line ends, and put a byte order mark before the first. */
function restored(line: Uint8Array, isFirst: boolean): Uint8Array {
  const from = isFirst && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? 3 : 0;
  // A return in a text is escaped, so that it can only be part of a line end.
  if (line.at(-2) !== RETURN) return line.subarray(from);
  const plain = line.slice(from, -1);
  plain[plain.length - 1] = NEWLINE;
  return plain;
}

/** Splits a stream into lines, and never holds more than one. Each has its newline, without the return before it. */
export async function* exportLines(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let [size, isFirst] = [0, true];
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      size += end - at;
      if (size > MAX_LINE_BYTES) throw new BadExport(`has more than ${MAX_LINE_BYTES} bytes`);
      held.push(chunk.slice(at, end));
      at = end;
      if (newline === -1) continue;
      yield restored(held.length === 1 ? held[0] as Uint8Array : Buffer.concat(held), isFirst);
      held = [];
      [size, isFirst] = [0, false];
    }
  }
  if (size > 0) throw new BadExport("is cut short: it does not end with a newline");
}

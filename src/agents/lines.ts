/**
 * Splits the source of another agent's session into lines of JSON, within caps.
 *
 * @module
 */
import { readCapped } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { MAX_JSON_DEPTH, parseShallow } from "../domain/json_depth.ts";
import type { LostPart } from "./agent_session.ts";

/** Most bytes of a source, and of one of its lines. */
export const MAX_SOURCE_BYTES = 256 * 1024 * 1024;
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Deepest nesting of a line, and of JSON in its texts: a turn holds an item in an event of its list, three levels. */
export const MAX_LINE_DEPTH = MAX_JSON_DEPTH - 3;

const NEWLINE = 0x0a;

/** One line of the source: a JSON object with its number. */
export interface SourceLine {
  /** 1, 2, 3, … */
  readonly line: number;
  readonly json: JsonObject;
}

/** The lines of a source. */
export interface SourceLines {
  readonly lines: readonly SourceLine[];
  readonly lost: readonly LostPart[];
  /** Bytes of a last line that has no line end and is not JSON; `null` without such a line. */
  readonly torn: { readonly line: number; readonly bytes: Uint8Array } | null;
}

/**
 * Collects a source.
 *
 * @throws {RepriseError} `bad_import` if it exceeds {@linkcode MAX_SOURCE_BYTES}.
 */
export async function collectSource(source: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const bytes = await readCapped(source, MAX_SOURCE_BYTES);
  if (bytes === null) throw tooLarge(name, `it has more than ${MAX_SOURCE_BYTES} bytes`);
  return bytes;
}

/**
 * Splits the bytes of a source. A line that is not a JSON object is lost; a last line without its end is torn.
 *
 * @throws {RepriseError} `bad_import` if a line exceeds {@linkcode MAX_LINE_BYTES}.
 */
export function splitLines(bytes: Uint8Array, name: string): SourceLines {
  const lines: SourceLine[] = [];
  const lost: LostPart[] = [];
  let line = 0;
  for (let start = 0; start < bytes.length;) {
    line++;
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const content = bytes.subarray(start, end);
    if (content.length > MAX_LINE_BYTES) {
      throw tooLarge(name, `line ${line} has more than ${MAX_LINE_BYTES} bytes`);
    }
    const json = parseShallow(content, MAX_LINE_DEPTH)?.json;
    if (isJsonObject(json)) lines.push({ line, json });
    else if (found === -1) return { lines, lost, torn: { line, bytes: content } };
    else if (content.length > 0) {
      lost.push({ line, what: "line", why: "it is not a JSON object, or it nests too deep" });
    }
    start = end + 1;
  }
  return { lines, lost, torn: null };
}

function tooLarge(name: string, why: string): RepriseError {
  return new RepriseError("bad_import", `Cannot import ${JSON.stringify(name)}: ${why}`, {
    hint: "Import a shorter session",
  });
}

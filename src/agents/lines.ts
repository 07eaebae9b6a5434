/** Splits the source of another agent's session into lines of JSON, within caps. */
import { readCapped } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { MAX_JSON_DEPTH, parseShallow } from "../domain/json_depth.ts";
import type { LostPart } from "../schemas/maintenance.ts";
import { recordsIn } from "./records.ts";

/** Most bytes of a source, and of one of its lines. */
export const MAX_SOURCE_BYTES = 256 * 1024 * 1024;
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Most lines of a source, without blank ones. */
const MAX_LINES = 1_000_000;

/** Deepest nesting of a line, and of JSON in its texts: a turn holds an item in an event of its list, three levels. */
export const MAX_LINE_DEPTH = MAX_JSON_DEPTH - 3;

const NEWLINE = 0x0a, RETURN = 0x0d, TAB = 0x09, SPACE = 0x20, OPEN = 0x7b, BYTE_ORDER_MARK = 0xef;

/** One line of the source: a JSON object with its number. */
export interface SourceLine {
  /** 1, 2, 3, … */
  readonly line: number;
  readonly json: JsonObject;
}

export interface SourceLines {
  readonly lines: readonly SourceLine[];
  readonly lost: readonly LostPart[];
  /** Times of the lines, by their numbers: ISO 8601 UTC with milliseconds. A line without a time has that of the one before. */
  readonly times: ReadonlyMap<number, string>;
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
 * Splits the bytes of a source. Of a line that is not a JSON object, the whole records at its start and its end are kept if
 * the agent writes such records (`isRecord`), and the rest is lost; a last line without its end is torn.
 *
 * @throws {RepriseError} `bad_import` if a line exceeds {@linkcode MAX_LINE_BYTES}, or if there are too many lines.
 */
export function splitLines(
  bytes: Uint8Array,
  { name, isRecord }: { readonly name: string; readonly isRecord: (json: JsonObject) => boolean },
): SourceLines {
  const lines: SourceLine[] = [];
  const lost: LostPart[] = [];
  const times = new Map<number, string>();
  let time: string | null = null;
  const keep = (line: number, json: JsonObject) => {
    lines.push({ line, json });
    time = timeIn(json) ?? time;
    if (time !== null) times.set(line, time);
  };
  let count = 0;
  let line = 0;
  for (let start = 0; start < bytes.length;) {
    line++;
    const first = afterBlanks(bytes, start);
    const found = bytes[first] === NEWLINE ? first : bytes.indexOf(NEWLINE, first);
    const end = found === -1 ? bytes.length : found;
    if (end - start > MAX_LINE_BYTES) {
      throw tooLarge(name, `line ${line} has more than ${MAX_LINE_BYTES} bytes`);
    }
    const from = start;
    start = end + 1;
    if (first === end) continue;
    const content = bytes.subarray(from, end);
    if (++count > MAX_LINES) throw tooLarge(name, `it has more than ${MAX_LINES} lines`);
    const json = parseLine(content);
    if (json !== null) {
      keep(line, json);
      continue;
    }
    const records = recordsIn(content, (piece) => {
      const record = parseLine(piece);
      return record !== null && isRecord(record) ? record : null;
    });
    for (const json of records) keep(line, json);
    if (found === -1) return { lines, lost, times, torn: { line, bytes: content } };
    const what = records.length === 0 ? "line" : "part of the line";
    lost.push({ line, what, why: "it is not a JSON object, or it nests too deep" });
  }
  return { lines, lost, times, torn: null };
}

/** The time of a line; `null` without one. All agents have it in the same member. */
function timeIn({ timestamp }: JsonObject): string | null {
  if (typeof timestamp !== "string" || !/^\d{4}-\d\d-\d\dT/.test(timestamp)) return null;
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** The first byte of a line that is not blank. A loop, because searches and parsers take minutes for millions of empty lines. */
function afterBlanks(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === SPACE || byte === TAB || byte === RETURN; byte = bytes[at]) at++;
  return at;
}

function parseLine(bytes: Uint8Array): JsonObject | null {
  // An error of the parser costs 20 µs.
  const first = bytes[afterBlanks(bytes, 0)];
  if (first !== OPEN && first !== BYTE_ORDER_MARK) return null;
  const json = parseShallow(bytes, MAX_LINE_DEPTH)?.json;
  return isJsonObject(json) ? json : null;
}

function tooLarge(name: string, why: string): RepriseError {
  return new RepriseError("bad_import", `Cannot import ${JSON.stringify(name)}: ${why}`, {
    hint: "Import a shorter session",
  });
}

/** `read_file`: a window of lines of one text file. */
import { locate, openFile, type SandboxFile } from "../sandbox_path.ts";
import {
  BINARY_PROBE_BYTES,
  decodeContent,
  isBinary,
  shortenedLine,
  shownPath,
  type ToolText,
} from "../output.ts";
import { counted } from "../../domain/text.ts";
import {
  confirmJudged,
  defineTool,
  nullableArgument,
  requiredArgument,
  type Tool,
  ToolFailure,
} from "../tool.ts";
import { concatBytes } from "../../domain/bytes.ts";

/** Number of lines that a call reads without a limit. */
const DEFAULT_LINES = 2000;
/** The longest line that is shown whole, in UTF-16 units. */
const MAX_LINE_CHARS = 2000;

export const readFile: Tool = defineTool({
  name: "read_file",
  description:
    "Read lines of a text file of the workspace. Each line comes as its number, a tab, and its text. " +
    `Without limit, ${DEFAULT_LINES} lines are read; a note after the last line says where to go on.`,
  arguments: {
    path: requiredArgument("string", "The file, relative to the workspace"),
    offset: nullableArgument("integer", "The first line to read, counted from 1; null for 1"),
    limit: nullableArgument("integer", `How many lines to read; null for ${DEFAULT_LINES}`),
  },
  group: "read",
  target: ({ path }, { root }) => ({ kind: "path", path: locate(root, path).shown }),
  async run({ path, offset, limit }, context) {
    const { root, signal } = context;
    const first = offset ?? 1;
    const count = limit ?? DEFAULT_LINES;
    if (first < 1) throw new ToolFailure(`Cannot read from line ${first}: lines count from 1`);
    if (count < 1) throw new ToolFailure(`Cannot read ${count} lines: the limit must be 1 or more`);
    const located = locate(root, path);
    confirmJudged(context, located.shown);
    const file = openFile(root, located);
    try {
      const window = await readWindow(file, { first, count, signal });
      if (isBinary(window.start)) {
        throw new ToolFailure(
          `Cannot read ${shownPath(located.shown)}: it is a binary file of ${file.size} bytes`,
        );
      }
      return textOf(window, first);
    } finally {
      file.close();
    }
  },
});

function textOf({ bytes, lines, total }: Window, first: number): ToolText {
  if (lines === 0) {
    if (first === 1) return { status: "ok", text: "[The file is empty]" };
    throw new ToolFailure(
      `Cannot read from line ${first}: the file has ${counted(total ?? first - 1, "line")}`,
    );
  }
  const { text, lossy } = decodeContent(bytes);
  const texts = text.split("\n");
  if (texts.length > lines) texts.pop();
  const shown = texts.map((line, index) => `${first + index}\t${shortenedLine(line, MAX_LINE_CHARS)}`);
  const last = first + lines - 1;
  if (total === null || last < total) {
    const of = total === null ? "more" : String(total);
    shown.push(`[Lines ${first} to ${last} of ${of}; continue with offset ${last + 1}]`);
  }
  if (lossy) {
    shown.push(
      "[Not UTF-8: bytes that could not be decoded are shown as U+FFFD; the original bytes are kept]",
    );
  }
  const complete = !lossy && texts.every((line) => line.length <= MAX_LINE_CHARS);
  return { status: "ok", text: shown.join("\n"), ...(complete ? {} : { full: { bytes, lossy } }) };
}

/** The most bytes that a window may hold. */
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
/** Files up to this size are read to their end, so that the number of all lines is known. */
const MAX_COUNTED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

interface WindowOptions {
  /** The first line, from 1. */
  readonly first: number;
  /** Number of lines, 1 or more. */
  readonly count: number;
  readonly signal: AbortSignal;
}

interface Window {
  /** The first bytes of the file, which tell binary from text. */
  readonly start: Uint8Array;
  /** The bytes of the lines, with their newlines. */
  readonly bytes: Uint8Array;
  /** Number of lines in `bytes`; fewer than requested at the end of the file. */
  readonly lines: number;
  /** Number of lines in the file; `null` if more lines follow that were not counted. */
  readonly total: number | null;
}

/**
 * Reads lines `first` to `first + count - 1`. A last line without a newline counts as a line.
 *
 * @throws {ToolFailure} if they are too large; the signal's reason when it aborts.
 */
async function readWindow(file: SandboxFile, { first, count, signal }: WindowOptions): Promise<Window> {
  const end = first + count;
  const pieces: Uint8Array[] = [];
  let start = new Uint8Array(0);
  let keptBytes = 0;
  let line = 1;
  let lineHasBytes = false;
  const buffer = new Uint8Array(CHUNK_BYTES);
  while (true) {
    signal.throwIfAborted();
    const length = await file.read(buffer);
    if (length === 0) break;
    const chunk = buffer.slice(0, length);
    if (start.length < BINARY_PROBE_BYTES) start = concatBytes([start, chunk]).slice(0, BINARY_PROBE_BYTES);
    if (start.includes(0)) break;
    if (line >= end && file.size > MAX_COUNTED_BYTES) {
      return { start, bytes: concatBytes(pieces), lines: count, total: null };
    }
    let from = line >= first && line < end ? 0 : -1;
    let to = length;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      line++;
      if (line === first) from = at + 1;
      if (line === end) to = at + 1;
    }
    lineHasBytes = chunk[length - 1] !== NEWLINE;
    if (from < 0) continue;
    keptBytes += to - from;
    if (keptBytes > MAX_WINDOW_BYTES) {
      throw new ToolFailure(
        `Cannot read ${count} lines from line ${first}: they hold more than ${MAX_WINDOW_BYTES} bytes ` +
          "(ask for fewer lines, or search with search_text)",
      );
    }
    pieces.push(chunk.subarray(from, to));
  }
  const total = lineHasBytes ? line : line - 1;
  const lines = Math.max(0, Math.min(end - 1, total) - first + 1);
  return { start, bytes: concatBytes(pieces), lines, total };
}

/** From a tool's whole text to what the model sees: well-formed, and head and tail where it is too long. */
import { decodeUtf8Exactly, decodeUtf8WithMark, encodeUtf8, isContinuation } from "../domain/bytes.ts";
import { defined } from "../domain/json.ts";
import { headOf, tailOf } from "../domain/text.ts";

/** Default for the longest output that a model is shown, in UTF-16 units. */
export const DEFAULT_OUTPUT_CHARS = 32_000;

/** Share of the room that goes to the head; ends of outputs say less than their beginnings. */
export const HEAD_SHARE = 0.7;

/** Everything a call produced, when the model is shown less than that. */
interface FullOutput {
  readonly bytes: Uint8Array;
  /** True when `bytes` are not UTF-8, so that the text lost something. */
  readonly lossy: boolean;
}

/** The result of a call as the run loop gets it. */
export interface ToolOutput {
  readonly status: "ok" | "error";
  /** Well-formed text within the limit. */
  readonly output: string;
  /** Present when `output` was cut or lost bytes: the caller keeps it as a blob. */
  readonly full?: FullOutput;
}

/** The result of a call before it is cut. */
export interface ToolText {
  readonly status: "ok" | "error";
  readonly text: string;
  /** The source that `text` shows only in part or with losses; kept instead of `text`. */
  readonly full?: FullOutput;
}

/** Cuts `result` to `maxChars` UTF-16 units; nothing is lost, the whole goes to `full`. */
export function finishText(result: ToolText, maxChars: number = DEFAULT_OUTPUT_CHARS): ToolOutput {
  const { status, full } = result;
  const text = result.text.toWellFormed();
  if (text.length <= maxChars) return { status, output: text, ...defined({ full }) };
  return {
    status,
    output: headAndTail(text, maxChars),
    full: full ?? { bytes: encodeUtf8(text), lossy: false },
  };
}

/** The most bytes that JSON needs for one UTF-16 unit: `\u0000`. */
const JSON_BYTES = 6;

/** Cuts an output that takes more than `maxBytes` as JSON; nothing is lost, the whole goes to `full`. */
export function fitBytes(output: ToolOutput, maxBytes: number): ToolOutput {
  const { status, output: text, full } = output;
  // Two of them are the quotes.
  const room = maxBytes - 2;
  if (text.length * JSON_BYTES <= room || encodeUtf8(JSON.stringify(text)).length <= maxBytes) {
    return output;
  }
  return finishText({ status, text, ...defined({ full }) }, Math.floor(room / JSON_BYTES));
}

/**
 * The beginning and the end of `text` with a line between them that counts what is missing. At most
 * `maxChars` long; a room too small for that line gets the beginning alone.
 */
function headAndTail(text: string, maxChars: number): string {
  const longestNote = noteText(text.length);
  const room = maxChars - longestNote.length;
  if (room <= 0) return headOf(text, maxChars);
  const head = headOf(text, Math.floor(room * HEAD_SHARE));
  const tail = tailOf(text, room - Math.floor(room * HEAD_SHARE));
  return `${head}${noteText(text.length - head.length - tail.length)}${tail}`;
}

function noteText(missing: number): string {
  return `\n[… ${missing} characters left out here; the complete output is kept in the session …]\n`;
}

/** `text` cut to `maxChars` UTF-16 units with a note of how many more there were. */
export function shortenedLine(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars);
  return `${head} [… ${text.length - head.length} more characters in this line]`;
}

/** Returns a name or path as one line of text: unchanged, or as a JSON string if it could be misread. */
export function shownPath(path: string): string {
  // deno-lint-ignore no-control-regex
  return /^"|^\s|\s$|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) || !path.isWellFormed()
    ? JSON.stringify(path)
    : path;
}

/** Number of first bytes of a file that are searched for a NUL byte: with one, the file is binary. */
export const BINARY_PROBE_BYTES = 8 * 1024;

interface Decoded {
  readonly text: string;
  /** True when some bytes were not UTF-8 and became U+FFFD. */
  readonly lossy: boolean;
}

/** True if the first bytes of a file hold a NUL: it is never shown as text. */
export function isBinary(start: Uint8Array): boolean {
  return start.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Decodes UTF-8; a byte order mark stays, so that the text is what the file holds. */
export function decodeContent(bytes: Uint8Array): Decoded {
  try {
    return { text: decodeUtf8Exactly(bytes), lossy: false };
  } catch {
    return { text: decodeUtf8WithMark(bytes), lossy: true };
  }
}

/** `bytes` without the rest of a UTF-8 sequence at its start. */
export function withoutCutStart(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start] as number)) start++;
  return bytes.subarray(start);
}

/**
 * Parses bytes into server-sent events, independent of the cuts between chunks; and finds the positions of events in a
 * whole body.
 */
import { concatBytes, decodeUtf8Leniently, decodeUtf8WithMark, withoutCutEnd } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";

/** One event: the `event:` line, if present, and the joined `data:` lines. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Longest line and longest event, in UTF-16 units. */
const DEFAULT_MAX_EVENT = 64 * 1024 * 1024;
/** Characters that the parser may hold in addition to an event's data: the name of the field. */
const FIELD_ALLOWANCE = 16;
const LF = 0x0a, CR = 0x0d, SPACE = 0x20, COLON = 0x3a, D = 0x64, E = 0x65, MARK = 0xfeff;
const NO_EVENTS: readonly SseEvent[] = [];

/**
 * Returns the events of `body`, in one batch for each chunk that completes any event: a hop of the event loop for each
 * event would cost more than parsing it. A last event without its blank line is delivered (protocol §3.1). Bytes that
 * end inside a character are a cut, which the reader of the events notices, and no error here. Ending early with
 * `return()` releases `body`.
 *
 * @throws {RepriseError} `bad_stream` for bytes that are not UTF-8 and for a line or an event over the cap, after
 * the events before it.
 */
export function readSse(
  body: AsyncIterable<Uint8Array>,
  { maxEventBytes = DEFAULT_MAX_EVENT }: { readonly maxEventBytes?: number } = {},
): AsyncIterableIterator<readonly SseEvent[], undefined> {
  const chunks = body[Symbol.asyncIterator]();
  const framer = new Framer(maxEventBytes);
  let over = false;

  // A manual iterator: on small chunks an async generator costs a fifth more.
  return {
    async next() {
      while (!over) {
        if (framer.failure !== undefined) {
          over = true;
          await chunks.return?.();
          throw framer.failure;
        }
        over = true;
        const chunk = await chunks.next();
        if (chunk.done) framer.end();
        else framer.feed(chunk.value);
        over = chunk.done === true && framer.failure === undefined;
        const batch = framer.take();
        if (batch.length > 0) return { done: false, value: batch };
      }
      return { done: true, value: undefined };
    },
    async return() {
      over = true;
      await chunks.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Returns the events of a whole body up to the first error that {@linkcode readSse} would throw: the events that a client
 * has received by then.
 */
export function sseEventsIn(body: Uint8Array): readonly SseEvent[] {
  const framer = new Framer(DEFAULT_MAX_EVENT);
  framer.feed(body);
  framer.end();
  return framer.take();
}

/** Finds the lines of a stream that comes in chunks, and joins them to events. */
class Framer {
  /** Set once; events that were taken before stay valid. */
  failure: RepriseError | undefined;
  readonly #maxEvent: number;
  readonly #decode = createDecoder();
  #batch: SseEvent[] = [];
  /** A line without its end. */
  #pending = "";
  /** True after a CR at the end of a piece: an LF that follows belongs to it. */
  #afterCr = false;
  #isFirst = true;
  #event: string | undefined;
  /** The latest name. Most events have the name of the one before: the same string need not be hashed again. */
  #lastName = "";
  /** The joined `data:` lines; `undefined` before the first one. */
  #data: string | undefined;

  constructor(maxEvent: number) {
    this.#maxEvent = maxEvent;
  }

  feed(chunk: Uint8Array): void {
    const { text, invalid } = this.#decode(chunk);
    if (text !== "") this.#read(text);
    this.failure ??= invalid;
  }

  #read(piece: string): void {
    const before = this.#pending.length;
    // The search for a line end is in this piece alone: a long line costs linear time.
    const from = this.#skipped(piece);
    this.#afterCr = piece.charCodeAt(piece.length - 1) === CR;
    let lf = piece.indexOf("\n", from);
    let cr = piece.indexOf("\r", from);
    const text = before === 0 ? piece : this.#pending + piece;
    if (lf !== -1) lf += before;
    if (cr !== -1) cr += before;
    let start = from;
    while (lf !== -1 || cr !== -1) {
      const endsWithCr = cr !== -1 && (lf === -1 || cr < lf);
      const end = endsWithCr ? cr : lf;
      this.#line(text, start, end);
      start = endsWithCr && lf === cr + 1 ? end + 2 : end + 1;
      if (endsWithCr) cr = text.indexOf("\r", start);
      if (lf !== -1 && lf < start) lf = text.charCodeAt(start) === LF ? start : text.indexOf("\n", start);
    }
    this.#pending = start === 0 ? text : text.slice(start);
    if (this.#pending.length + (this.#data?.length ?? 0) > this.#maxEvent + FIELD_ALLOWANCE) {
      this.failure ??= tooLong(this.#maxEvent);
    }
  }

  /** Delivers an event that lacks its blank line. */
  end(): void {
    if (this.failure !== undefined) return;
    const last = this.#pending;
    if (last !== "") this.#line(last, 0, last.length);
    this.#dispatch();
  }

  /** The events since the last call. */
  take(): readonly SseEvent[] {
    if (this.#batch.length === 0) return NO_EVENTS;
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  /** Length of the byte order mark that begins the stream, or of the LF after a CR that ended the last piece. */
  #skipped(piece: string): number {
    const skips = this.#afterCr ? LF : this.#isFirst ? MARK : NaN;
    this.#isFirst = false;
    return piece.charCodeAt(0) === skips ? 1 : 0;
  }

  #line(text: string, start: number, end: number): void {
    if (start === end) return this.#dispatch();
    const first = text.charCodeAt(start);
    if (first === D) {
      const data = valueStart("data", text, start, end);
      if (data === -1) return;
      const value = text.slice(data, end);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (first === E) {
      const event = valueStart("event", text, start, end);
      if (event === -1) return;
      const last = this.#lastName;
      const isSame = end - event === last.length && text.startsWith(last, event);
      if (!isSame) this.#lastName = text.slice(event, end);
      this.#event = this.#lastName || undefined;
    }
  }

  #dispatch(): void {
    const data = this.#data;
    if (data !== undefined && this.failure === undefined) {
      // An event inside one piece is never pending.
      if (data.length > this.#maxEvent) this.failure = tooLong(this.#maxEvent);
      else this.#batch.push({ event: this.#event, data });
    }
    this.#event = undefined;
    this.#data = undefined;
  }
}

/** The start of the value in a line of the field `name`; -1 for a line of another field. */
function valueStart(name: string, text: string, start: number, end: number): number {
  if (!text.startsWith(name, start)) return -1;
  const colon = start + name.length;
  if (colon === end) return end;
  if (text.charCodeAt(colon) !== COLON) return -1;
  return colon + 1 < end && text.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1;
}

/** The text of a chunk up to its first byte that cannot be UTF-8, and the error for that byte. */
interface Decoded {
  readonly text: string;
  readonly invalid?: RepriseError;
}

/**
 * Returns a function that decodes the chunks of one stream. Decoding leniently is four times as fast as strictly: a
 * chunk is decoded strictly if it may begin or end inside a character, or if a replacement character results.
 */
function createDecoder(): (chunk: Uint8Array) => Decoded {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let tail: Uint8Array = new Uint8Array(0);
  return (chunk) => {
    const before = tail;
    tail = lastBytes(tail, chunk);
    if (endsInAscii(before) && endsInAscii(chunk)) {
      const text = decodeUtf8WithMark(chunk);
      if (!text.includes("\ufffd")) return { text };
    }
    try {
      return { text: strict.decode(chunk, { stream: true }) };
    } catch (cause) {
      return { text: decodeValidPrefix(before, chunk), invalid: notUtf8(cause) };
    }
  };
}

/** True if no character continues after `bytes`. */
function endsInAscii(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes[bytes.length - 1] as number) < 0x80;
}

function notUtf8(cause: unknown): RepriseError {
  return new RepriseError("bad_stream", "The stream holds bytes that are not UTF-8", {
    hint: "A proxy between here and the server may be changing the bytes",
    cause,
  });
}

function tooLong(limit: number): RepriseError {
  return new RepriseError("bad_stream", `The stream holds an event of more than ${limit} characters`, {
    hint: "No model answers like this: check the base URL",
  });
}

/**
 * The text of `chunk` up to its first byte that cannot be UTF-8. `tail` are the bytes before `chunk`: an unfinished
 * character at the end of `tail` is completed and included.
 */
function decodeValidPrefix(tail: Uint8Array, chunk: Uint8Array): string {
  const bytes = concatBytes([tail.subarray(withoutCutEnd(tail).length), chunk]);
  // Validity of a prefix is monotonic: search for the longest valid prefix.
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (decodePrefix(bytes.subarray(0, middle)) === undefined) invalid = middle;
    else valid = middle;
  }
  return decodePrefix(bytes.subarray(0, valid)) ?? "";
}

/** Returns bytes that end with the last three of `tail` and `chunk` together: an unfinished character has no more. */
function lastBytes(tail: Uint8Array, chunk: Uint8Array): Uint8Array {
  return chunk.length >= 3 ? chunk : concatBytes([tail.subarray(-3), chunk]).subarray(-3);
}

function decodePrefix(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** One line, as offsets into the stream. */
interface SseLine {
  /** `event`, `data`, …; empty for a comment. */
  readonly field: string;
  readonly value: string;
  readonly start: number;
  /** Without its line end. */
  readonly end: number;
  /** Offset of the next line. */
  readonly next: number;
}

/** The lines up to and including a blank line, or to the end of the stream. */
export interface SseBlock {
  readonly start: number;
  readonly end: number;
  /** The `event:` line, if present. */
  readonly event: string | undefined;
  /** The joined `data:` lines; `undefined` for a block without an event, such as a comment. */
  readonly data: string | undefined;
  readonly lines: readonly SseLine[];
}

/** The blocks of a stream, in order; together they cover all its bytes. */
export function sseBlocks(bytes: Uint8Array): SseBlock[] {
  const blocks: SseBlock[] = [];
  let lines: SseLine[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length;) {
    const line = lineAt(bytes, at);
    at = line.next;
    if (line.end > line.start) lines.push(line);
    if (line.end > line.start && at < bytes.length) continue;
    blocks.push(blockOf(lines, start, at));
    lines = [];
    start = at;
  }
  return blocks;
}

function blockOf(lines: readonly SseLine[], start: number, end: number): SseBlock {
  const data = lines.filter(({ field }) => field === "data").map(({ value }) => value);
  return {
    start,
    end,
    event: lines.findLast(({ field }) => field === "event")?.value,
    data: data.length === 0 ? undefined : data.join("\n"),
    lines,
  };
}

function lineAt(bytes: Uint8Array, start: number): SseLine {
  let end = start;
  while (end < bytes.length && bytes[end] !== LF && bytes[end] !== CR) end++;
  const next = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : Math.min(end + 1, bytes.length);
  // Only the first line of a stream may begin with a mark.
  const decode = start === 0 ? decodeUtf8Leniently : decodeUtf8WithMark;
  const text = decode(bytes.subarray(start, end));
  const colon = text.indexOf(":");
  return {
    field: colon === -1 ? text : text.slice(0, colon),
    value: colon === -1 ? "" : text.slice(colon + 1).replace(/^ /, ""),
    start,
    end,
    next,
  };
}

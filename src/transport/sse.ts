/**
 * Parses bytes into server-sent events, independent of the cuts between chunks; and finds the positions of events in a
 * whole body.
 *
 * @module
 */
import { concatBytes, decodeUtf8Leniently } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { createParser } from "eventsource-parser";

/** One event: the `event:` line, if present, and the joined `data:` lines. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Caps of {@linkcode readSse}. */
export interface SseLimits {
  /** Longest line and longest event, in UTF-16 units. @default {64 Mi} */
  readonly maxEventBytes?: number;
}

const DEFAULT_MAX_EVENT = 64 * 1024 * 1024;
/** Characters that the parser may hold in addition to an event's data: the name of the field. */
const FIELD_ALLOWANCE = 16;
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
  limits: SseLimits = {},
): AsyncIterableIterator<readonly SseEvent[], undefined> {
  const chunks = body[Symbol.asyncIterator]();
  const framer = createFramer(limits.maxEventBytes ?? DEFAULT_MAX_EVENT);
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
  const framer = createFramer(DEFAULT_MAX_EVENT);
  framer.feed(body);
  framer.end();
  return framer.take();
}

interface Framer {
  feed(chunk: Uint8Array): void;
  /** Delivers an event that lacks its blank line. */
  end(): void;
  /** The events since the last call. */
  take(): readonly SseEvent[];
  /** Set once; events that were taken before stay valid. */
  readonly failure: RepriseError | undefined;
}

function createFramer(maxEvent: number): Framer {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let batch: SseEvent[] = [];
  let failure: RepriseError | undefined;
  let tail: Uint8Array = new Uint8Array(0);
  const parser = createParser({
    maxBufferSize: maxEvent + FIELD_ALLOWANCE,
    onEvent(event) {
      if (failure !== undefined) return;
      // An event inside one chunk never meets the parser's own cap.
      if (event.data.length > maxEvent) failure = tooLong(maxEvent);
      else batch.push(event as SseEvent);
    },
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") failure ??= tooLong(maxEvent);
    },
  });
  return {
    feed(chunk) {
      let text: string;
      let invalid: RepriseError | undefined;
      try {
        text = decoder.decode(chunk, { stream: true });
      } catch (cause) {
        text = decodeValidPrefix(tail, chunk);
        invalid = notUtf8(cause);
      }
      parser.feed(text);
      failure ??= invalid;
      tail = lastBytes(tail, chunk);
    },
    end() {
      if (failure === undefined) parser.feed("\n\n");
    },
    take() {
      if (batch.length === 0) return NO_EVENTS;
      const taken = batch;
      batch = [];
      return taken;
    },
    get failure() {
      return failure;
    },
  };
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
  const start = unfinished(tail);
  const bytes = concatBytes([start, chunk]);
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
  if (chunk.length >= 3) return chunk;
  return concatBytes([tail, chunk]).slice(-3);
}

/** The lead byte of an unfinished character at the end of `tail`, and the bytes after it. */
function unfinished(tail: Uint8Array): Uint8Array {
  for (let length = 1; length <= Math.min(3, tail.length); length++) {
    const byte = tail[tail.length - length] as number;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return expected > length ? tail.subarray(tail.length - length) : new Uint8Array(0);
  }
  return new Uint8Array(0);
}

function decodePrefix(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** One line, as offsets into the stream. */
export interface SseLine {
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
  const text = decodeUtf8Leniently(bytes.subarray(start, end));
  const colon = text.indexOf(":");
  return {
    field: colon === -1 ? text : text.slice(0, colon),
    value: colon === -1 ? "" : text.slice(colon + 1).replace(/^ /, ""),
    start,
    end,
    next,
  };
}

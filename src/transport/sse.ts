/**
 * Bytes → server-sent events, the same ones however the bytes are cut into chunks.
 *
 * @module
 */
import { createParser } from "eventsource-parser";
import { RepriseError } from "../domain/errors.ts";
import { decodeValidPrefix, lastBytes } from "./utf8.ts";

/** One event: the `event:` line where there was one, and the joined `data:` lines. */
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
/** What the parser may hold beside the data of an event: the name of the field. */
const FIELD_ALLOWANCE = 16;
const NO_EVENTS: readonly SseEvent[] = [];

/**
 * The events of `body`, as one batch for each chunk that completes any: a hop of the event loop for each event
 * would cost more than parsing it. A last event without its blank line is delivered (protocol §3.1), and bytes
 * that end inside a character are a cut, which the reader of the events notices, not an error here. Ending
 * early with `return()` lets go of `body`.
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

  // Written by hand: on small chunks an async generator costs a fifth more.
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
 * The events of a body that is there whole, up to the first thing that {@linkcode readSse} would throw for: what a
 * client had received by then.
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
  /** Set once; what was taken before stays good. */
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

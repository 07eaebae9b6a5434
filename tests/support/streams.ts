/**
 * Streams to test readers with: those of the project's fixtures and recordings, and what one reading of a
 * stream gives, from bytes to items.
 *
 * @module
 */
import assert from "node:assert/strict";
import { RepriseError } from "../../src/domain/errors.ts";
import { messagesApi } from "../../src/apis/messages/api.ts";
import { responsesApi } from "../../src/apis/responses/api.ts";
import type { RunApi, StreamUpdate } from "../../src/apis/api.ts";
import { readSse, type SseEvent } from "../../src/transport/sse.ts";
import { recordedStreams as recordedMessages } from "../unit/apis/messages/recorded_messages.ts";
import {
  blockEvents,
  CALL,
  ended,
  REDACTED,
  started,
  TEXT,
  THINKING,
} from "../unit/apis/messages/stream_events.ts";
import { recordedStreams } from "../unit/apis/responses/recorded_streams.ts";

/** One response's stream, and who assembles it. */
export interface TestStream {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly api: RunApi;
}

/** Both APIs: every stream can be given to either. */
export const DIALECTS: readonly RunApi[] = [responsesApi, messagesApi];

const encoder = new TextEncoder();

/** All streams, by size. */
export function testStreams(): TestStream[] {
  const streams = [
    ...[...fixtureStreams(), ...recordedStreams()].map((stream) => ({ ...stream, api: responsesApi })),
    ...[...messagesStreams(), ...recordedMessages()].map((stream) => ({ ...stream, api: messagesApi })),
  ];
  return streams.sort((a, b) => a.bytes.length - b.bytes.length);
}

/** The chunks as a body, with as little around them as an async iterable can have. */
export function bodyOfChunks(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  let at = 0;
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    const value = chunks[at++];
    return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The events before an error, and its message. */
export interface ReadEvents {
  readonly events: readonly SseEvent[];
  readonly error: string | undefined;
}

/** Reads events to the end; `each` gets them as they come. Anything thrown but a typed `bad_stream` fails the test. */
export async function readEvents(
  chunks: readonly Uint8Array[],
  each: (event: SseEvent) => void = () => {},
): Promise<ReadEvents> {
  const events: SseEvent[] = [];
  try {
    for await (const batch of readSse(bodyOfChunks(chunks))) {
      for (const event of batch) {
        events.push(event);
        each(event);
      }
    }
    return { events, error: undefined };
  } catch (error) {
    assert.ok(error instanceof RepriseError && error.code === "bad_stream", String(error));
    return { events, error: error.message };
  }
}

/** The events of a stream and what its api's assembler makes of them as they come. */
export async function readUpdates(
  chunks: readonly Uint8Array[],
  api: RunApi,
): Promise<ReadEvents & { readonly updates: readonly StreamUpdate[] }> {
  const assembler = api.newAssembler();
  const updates: StreamUpdate[] = [];
  const read = await readEvents(chunks, (event) => updates.push(...assembler.feed(event)));
  updates.push(...assembler.end());
  return { ...read, updates };
}

/** True if both readings are the same: compared member by member, because there are hundreds of thousands. */
export function isSameReading(a: ReadEvents, b: ReadEvents): boolean {
  return a.error === b.error && a.events.length === b.events.length && a.events.every((event, index) => {
    const other = b.events[index];
    return event.data === other?.data && event.event === other.event;
  });
}

/** `bytes` cut at these places, which rise; the same place twice gives an empty chunk. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
}

function fixtureStreams(): { name: string; bytes: Uint8Array }[] {
  const root = new URL("../../fixtures/demo/", import.meta.url);
  return ["first", "second"].flatMap((fixture) => {
    const exchanges = new URL(`${fixture}/exchanges/`, root);
    return [...Deno.readDirSync(exchanges)].map(({ name }) => ({
      name: `fixtures/demo/${fixture}/${name}`,
      bytes: Deno.readFileSync(new URL(`${name}/body`, exchanges)),
    }));
  });
}

/** Messages with every kind of block, as the API writes them and with all that a stream may have beside that. */
function messagesStreams(): { name: string; bytes: Uint8Array }[] {
  const text = { ...TEXT, text: "Zwölf Boxkämpfer jagen 🦊 über den Deich, 数字もね." };
  const events = [
    started(),
    ...[THINKING, REDACTED, text, CALL].flatMap((block, index) => blockEvents(index, block)),
    ...ended("tool_use", { usage: { output_tokens: 21 } }),
  ];
  const plain = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const odd = events.map((event, index) =>
    `: ping ${index}\r\ndata:${JSON.stringify(event)}\r\n${index % 2 === 0 ? "id: ü\r\n" : ""}\r\n`
  ).join("");
  return [
    { name: "a message", bytes: encoder.encode(plain) },
    { name: "a message with a mark, comments and CRLF", bytes: encoder.encode(`\ufeff${odd}`) },
  ];
}

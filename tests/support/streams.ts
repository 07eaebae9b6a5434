/** Streams to test readers with: those of the project's fixtures and recordings, and the events of one. */
import assert from "node:assert/strict";
import { RepriseError } from "../../src/domain/errors.ts";
import { readSse, type SseEvent } from "../../src/transport/sse.ts";
import { recordedStreams as recordedMessages } from "./recorded_messages.ts";
import { blockEvents, CALL, ended, REDACTED, started, TEXT, THINKING } from "./stream_events.ts";
import { recordedStreams } from "./recorded_streams.ts";

/** One response's stream. */
export interface TestStream {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

/** All streams, by size. */
export function testStreams(): TestStream[] {
  const streams = [...fixtureStreams(), ...recordedStreams(), ...messagesStreams(), ...recordedMessages()];
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

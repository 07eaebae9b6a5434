/** Bytes of a stream to items, against `JSON.parse` of the same payloads alone, and against the openai client. */
import { responsesApi } from "../src/apis/responses/api.ts";
import { readSse } from "../src/transport/sse.ts";
import { recordedStreams } from "../tests/support/recorded_streams.ts";
import { bench, interleave, sized, timed } from "./report.ts";

const parse = "JSON.parse alone";
const client = "openai client, speed";
const kind = "speed";

export const sse = bench({
  largeParse: { what: "stream to items, 16 KB chunks", against: parse, target: 1.6 },
  smallParse: { what: "stream to items, 300-byte chunks", against: parse, target: 3.2 },
  largeClient: { what: "fetch body to items, 16 KB chunks", against: client, kind, target: 5 },
  smallClient: { what: "fetch body to items, 300-byte chunks", against: client, kind, target: 2.5 },
}, async (context) => {
  // Only the configuration of these tests has the client's package.
  const module = new URL("../tests/clients/openai_events.ts", import.meta.url).href;
  const { countEvents } = await import(module);
  const streams = recordedStreams().map(({ bytes }) => bytes).filter(endsWell);
  const length = streams.reduce((sum, stream) => sum + stream.length, 0);
  const times = Math.ceil(sized(context, 24e6, 1e6) / length);
  const measured = async (size: number) => {
    const once = streams.flatMap((stream) =>
      Array.from(
        { length: Math.ceil(stream.length / size) },
        (_, at) => stream.subarray(at * size, (at + 1) * size),
      )
    );
    const chunks = Array.from({ length: times }, () => once).flat();
    const batches = await Array.fromAsync(readSse(bodyOfChunks(chunks)));
    const payloads = batches.flat().map(({ data }) => data);
    const reading = (read: () => Promise<number>) => () =>
      timed(async () => {
        const events = await read();
        if (events !== payloads.length) throw new Error(`${events} of ${payloads.length} events were read`);
      });
    const all = await interleave({
      parse: () => timed(() => payloads.forEach((payload) => JSON.parse(payload))),
      chunks: reading(() => assemble(bodyOfChunks(chunks))),
      body: reading(() => assemble(fetchBody(chunks))),
      client: reading(() => countEvents(fetchBody(chunks))),
    }, { rounds: sized(context, 9, 2), warmups: 2 });
    return { parse: { own: all.chunks, other: all.parse }, client: { own: all.body, other: all.client } };
  };
  const [large, small] = [await measured(16 * 1024), await measured(300)];
  return {
    largeParse: large.parse,
    smallParse: small.parse,
    largeClient: large.client,
    smallClient: small.client,
  };
});

/** Checks if a stream is a completed response with `event:` lines: others would end the reading of several. */
function endsWell(stream: Uint8Array): boolean {
  const text = new TextDecoder().decode(stream);
  return text.startsWith("event: response.created\n") &&
    /\nevent: response\.completed\ndata: .*\n\n$/.test(text);
}

/** The chunks as a body, with as little around them as an async iterable can have. */
function bodyOfChunks(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  let at = 0;
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    const value = chunks[at++];
    return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The chunks as `fetch` returns them. */
function fetchBody(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = chunks.values();
  return new ReadableStream({
    pull(controller) {
      const { value, done } = left.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** Assembles one response after the other; returns the number of events. */
async function assemble(body: AsyncIterable<Uint8Array>): Promise<number> {
  let assembler = responsesApi.newAssembler();
  let events = 0;
  for await (const batch of readSse(body)) {
    for (const event of batch) {
      events++;
      if (assembler.feed(event).at(-1)?.kind === "finished") assembler = responsesApi.newAssembler();
    }
  }
  return events;
}

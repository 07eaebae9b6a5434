/**
 * Bytes of a stream → assembled items, against `JSON.parse` of the same payloads alone and against the official
 * client.
 *
 * @module
 */
import { responsesApi } from "../src/apis/responses/api.ts";
import { readSse } from "../src/transport/sse.ts";
import { type Bench, sized } from "./bench.ts";
import { type Report, speedRow, timeRow } from "./report.ts";
import { sampleStreams, type StreamSet } from "./stream.ts";
import { interleave, timed, timedAsync } from "./timing.ts";

const SIZES = [
  { chunk: 16 * 1024, name: "16 KB chunks", parseTarget: 1.5, clientTarget: 6 },
  { chunk: 300, name: "300-byte chunks", parseTarget: 2.8, clientTarget: 3 },
] as const;

/** Measures `readSse` with the assembler. */
export const sseBench: Bench = async (context) => {
  const megabytes = sized(context, { full: 24, quick: 4 });
  const rounds = sized(context, { full: 9, quick: 3 });
  const set = await sampleStreams();
  const bytes = repeated(set, megabytes * 1e6);
  const payloads = await payloadsOf(bytes);
  const countEvents = await openaiClient();
  const rows = [];
  for (const { chunk, name, parseTarget, clientTarget } of SIZES) {
    const chunks = cut(bytes, chunk);
    const times = await interleave({
      parse: { measure: () => timed(() => payloads.forEach((payload) => JSON.parse(payload))) },
      own: { measure: () => timedAsync(() => assemble(iterate(chunks), set)) },
      ownFromBody: { measure: () => timedAsync(() => assemble(bodyOf(chunks), set)) },
      plain: { measure: () => timedAsync(() => cutAndParse(bodyOf(chunks), payloads.length)) },
      kept: { measure: () => timedAsync(() => cutAndParse(bodyOf(chunks), payloads.length, KEPT)) },
      client: { measure: () => timedAsync(() => readWithClient(countEvents, chunks, payloads.length)) },
    }, { rounds, warmups: 2 });
    rows.push(
      timeRow({
        name: `${name} → items`,
        against: "JSON.parse alone, time",
        times: times.own,
        againstTimes: times.parse,
        target: { bound: "at_most", value: parseTarget },
      }),
      speedRow({
        name: `${name} of a fetch body → items`,
        against: "the openai client, speed",
        times: times.ownFromBody,
        againstTimes: times.client,
        target: { bound: "at_least", value: clientTarget },
      }),
      speedRow({
        name: `${name} of a fetch body, cut into lines and parsed only`,
        detail: true,
        against: "the openai client, speed",
        times: times.plain,
        againstTimes: times.client,
      }),
      speedRow({
        name: `${name} of a fetch body, cut into lines, and only the kept events parsed`,
        detail: true,
        against: "the openai client, speed",
        times: times.kept,
        againstTimes: times.client,
      }),
      speedRow({
        name: "JSON.parse alone",
        detail: true,
        against: "the openai client, speed",
        times: times.parse,
        againstTimes: times.client,
      }),
    );
  }
  const size = `${(bytes.length / 1e6).toFixed(0)} MB with ${payloads.length.toLocaleString("en")} events`;
  return {
    rows,
    notes: [
      `${rounds} rounds; ${set.name}, repeated to ${size}. Against the client both read the same web stream.`,
    ],
  } satisfies Report;
};

/** The whole set again and again, as one body, until it has at least `least` bytes. */
function repeated({ streams }: StreamSet, least: number): Uint8Array {
  const length = streams.reduce((sum, stream) => sum + stream.length, 0);
  const times = Math.ceil(least / length);
  const bytes = new Uint8Array(length * times);
  let at = 0;
  for (let time = 0; time < times; time++) {
    for (const stream of streams) {
      bytes.set(stream, at);
      at += stream.length;
    }
  }
  return bytes;
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

/** The chunks with as little around them as an async iterable can have. */
function iterate(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  let at = 0;
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    const value = chunks[at++];
    return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The chunks as `fetch` hands them out. */
function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[at++];
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

async function payloadsOf(bytes: Uint8Array): Promise<string[]> {
  const payloads: string[] = [];
  for await (const batch of readSse(iterate(cut(bytes, 64 * 1024)))) {
    for (const { data } of batch) payloads.push(data);
  }
  return payloads;
}

/** Reads one response after the other out of `body`. */
async function assemble(body: AsyncIterable<Uint8Array>, { streams }: StreamSet): Promise<void> {
  let assembler = responsesApi.newAssembler();
  let responses = 0;
  let items = 0;
  for await (const batch of readSse(body)) {
    for (const event of batch) {
      for (const update of assembler.feed(event)) {
        if (update.kind === "item") items++;
        if (update.kind !== "finished") continue;
        responses++;
        assembler = responsesApi.newAssembler();
      }
    }
  }
  if (responses === 0 || responses % streams.length !== 0 || items < responses) {
    throw new Error(`Assembled ${responses} responses with ${items} items out of ${streams.length} streams`);
  }
}

/** The events whose JSON is kept: without it there is no item, and no usage. */
const KEPT: ReadonlySet<string> = new Set(["response.output_item.done", "response.completed"]);

/**
 * The plainest loop that gets the JSON of each event, or only of those that `kept` names: it checks nothing, and
 * assembles nothing.
 */
async function cutAndParse(
  body: ReadableStream<Uint8Array>,
  expected: number,
  kept?: ReadonlySet<string>,
): Promise<void> {
  const decoder = new TextDecoder();
  let pending = "";
  let events = 0;
  let name = "";
  for await (const chunk of body) {
    const text = pending + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      if (text.startsWith("data: ", start)) {
        if (kept === undefined || kept.has(name)) JSON.parse(text.slice(start + 6, end));
        events++;
      } else if (kept !== undefined && text.startsWith("event: ", start)) name = text.slice(start + 7, end);
      start = end + 1;
    }
    pending = text.slice(start);
  }
  if (events !== expected) throw new Error(`The plain loop read ${events} of ${expected} events`);
}

/** Reads a Responses stream with the openai client; returns the number of its events. */
type CountEvents = (body: ReadableStream<Uint8Array>) => Promise<number>;

/** Loads the openai client. The name is computed: only the configuration of `tests/clients` has the package. */
async function openaiClient(): Promise<CountEvents> {
  const module = new URL("../tests/clients/openai_events.ts", import.meta.url).href;
  return (await import(module)).countEvents;
}

/** Reads the client's plain stream of events: it does not assemble, so it has less to do. */
async function readWithClient(
  countEvents: CountEvents,
  chunks: readonly Uint8Array[],
  expected: number,
): Promise<void> {
  const events = await countEvents(bodyOf(chunks));
  if (events !== expected) throw new Error(`The client read ${events} of ${expected} events`);
}

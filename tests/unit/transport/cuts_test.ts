/**
 * Whole streams under every cut: the bytes of a response say the same however a network hands them out.
 *
 * @module
 */
import assert from "node:assert/strict";
import { Dice } from "../fold/dice.ts";
import { HAS_RECORDINGS } from "../apis/responses/recorded_streams.ts";
import { samples } from "../../support/samples.ts";
import {
  cutAt,
  isSameReading,
  readEvents,
  readUpdates,
  type TestStream,
  testStreams,
} from "../../support/streams.ts";
import { cut } from "./support.ts";
import { test } from "../../support/test.ts";

/** Streams up to here are cut at every byte, longer ones where it matters. */
const EVERY_BYTE = 32 * 1024;
/** All places in `deno task fuzz`, every 41st in the gate. */
const STRIDE = samples(1) === 1 ? 1 : 41;

const STREAMS = testStreams();
const LONG = STREAMS.filter(({ bytes }) => bytes.length > EVERY_BYTE);
const SHORT = STREAMS.filter(({ bytes }) => bytes.length <= EVERY_BYTE);

Deno.test("the streams that are cut are short and long, of both APIs, and whole", async () => {
  assert.ok(SHORT.length >= 6 && LONG.length >= 1);
  if (HAS_RECORDINGS) assert.ok(STREAMS.length >= 60, `only ${STREAMS.length} streams found`);
  assert.equal(new Set(STREAMS.map(({ api }) => api)).size, 2);
  for (const { name, bytes, api } of STREAMS) {
    const { events, error, updates } = await readUpdates([bytes], api);
    assert.ok(error === undefined && events.length > 0 && updates.at(-1)?.kind === "finished", name);
  }
});

test.long("every two-way split of a stream up to 32 KB gives the same events", async () => {
  for (const stream of SHORT) {
    const places = Array.from({ length: stream.bytes.length + 1 }, (_, at) => at);
    await assertSameUnder(stream, sampled(places, stream));
  }
});

test.long("a longer stream gives the same events split around each line, character and event", async () => {
  for (const stream of LONG) {
    const places = new Set<number>();
    stream.bytes.forEach((byte, at) => {
      const first = byte >= 0xc0;
      const lineEnd = byte === 0x0a || byte === 0x0d;
      // Before, inside and after: a character has up to four bytes.
      if (first || lineEnd) { for (const by of first ? [0, 1, 2, 3, 4] : [0, 1, 2]) places.add(at + by); }
    });
    await assertSameUnder(stream, sampled([...places].filter((at) => at <= stream.bytes.length), stream));
  }
});

test.long("single bytes give the same events, items, text and usage", async () => {
  for (const { name, bytes, api } of STRIDE === 1 ? STREAMS : STREAMS.slice(0, 24)) {
    const whole = await readUpdates([bytes], api);
    const single = await readUpdates(cut(bytes, 1), api);
    assert.ok(isSameReading(single, whole), name);
    assert.equal(JSON.stringify(single.updates), JSON.stringify(whole.updates), name);
  }
});

test.long("20,000 random splits into many chunks, empty ones too, give the same items, text and usage", async () => {
  const whole = new Map<TestStream, { json: string }>();
  const cases = samples(20_000);
  for (let seed = 0; seed < cases; seed++) {
    const dice = new Dice(seed);
    const stream = dice.pick(STREAMS);
    const { name, bytes, api } = stream;
    const expected = whole.get(stream) ??
      { json: JSON.stringify((await readUpdates([bytes], api)).updates) };
    whole.set(stream, expected);
    // Mostly a handful anywhere, at times many close together.
    const [from, to] = dice.chance(0.3) ? around(dice, bytes.length) : [0, bytes.length];
    const places = Array.from({ length: dice.count(1, 12) }, () => dice.count(from, to)).sort((a, b) =>
      a - b
    );
    const { updates, error } = await readUpdates(cutAt(bytes, places), api);
    assert.equal(error, undefined, `${name}, seed ${seed}`);
    assert.ok(JSON.stringify(updates) === expected.json, `${name} cut at ${places}, seed ${seed}`);
  }
});

function around(dice: Dice, length: number): [number, number] {
  const middle = dice.count(0, length);
  return [Math.max(0, middle - 8), Math.min(length, middle + 8)];
}

/** Every {@linkcode STRIDE}th place, another first one for each stream. */
function sampled(places: readonly number[], { bytes }: TestStream): number[] {
  return places.filter((_, index) => (index + bytes.length) % STRIDE === 0);
}

async function assertSameUnder({ name, bytes }: TestStream, places: readonly number[]): Promise<void> {
  const whole = await readEvents([bytes]);
  assert.equal(whole.error, undefined, name);
  for (const at of places) {
    const split = await readEvents([bytes.subarray(0, at), bytes.subarray(at)]);
    assert.ok(isSameReading(split, whole), `${name} cut at ${at}`);
  }
}

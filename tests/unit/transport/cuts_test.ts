/**
 * Whole streams under every cut: the bytes of a response say the same however a network hands them out.
 *
 * @module
 */
import assert from "node:assert/strict";
import { Dice } from "../fold/dice.ts";
import { IS_SOAK, samples } from "../../support/scale.ts";

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
/** All places in `deno task unit`, every 41st in the gate. */
const STRIDE = IS_SOAK ? 1 : Math.round(2 / samples(1));

const STREAMS = testStreams();

Deno.test("the streams that are cut are short and long, and of both APIs", () => {
  const long = STREAMS.filter(({ bytes }) => bytes.length > EVERY_BYTE);
  assert.ok(long.length >= 1 && STREAMS.length - long.length >= 40, `${STREAMS.length} streams`);
  assert.equal(new Set(STREAMS.map(({ api }) => api)).size, 2);
});

for (const [index, stream] of STREAMS.entries()) {
  const { name, bytes, api } = stream;

  test.long(`${name} gives the same events under every two-way split`, async () => {
    const { events, error, updates } = await readUpdates([bytes], api);
    assert.ok(error === undefined && events.length > 0 && updates.at(-1)?.kind === "finished");
    for (const at of sampled(placesIn(bytes), stream)) {
      const split = await readEvents([bytes.subarray(0, at), bytes.subarray(at)]);
      assert.ok(isSameReading(split, { events, error }), `cut at ${at}`);
    }
  });

  Deno.test(`${name} gives the same events, items, text and usage in single bytes and in any chunks`, async () => {
    const whole = await readUpdates([bytes], api);
    const updates = JSON.stringify(whole.updates);
    if (STRIDE === 1 || index < 24) {
      const single = await readUpdates(cut(bytes, 1), api);
      assert.ok(isSameReading(single, whole));
      assert.ok(JSON.stringify(single.updates) === updates);
    }
    // A long stream takes longer.
    const cases = STRIDE === 1 ? 300 : bytes.length > EVERY_BYTE ? 4 : 20;
    for (let seed = 0; seed < cases; seed++) {
      const dice = new Dice(index * 300 + seed);
      // Mostly a handful anywhere, at times many close together; empty ones too.
      const [from, to] = dice.chance(0.3) ? around(dice, bytes.length) : [0, bytes.length];
      const places = Array.from({ length: dice.count(1, 12) }, () => dice.count(from, to)).sort((a, b) =>
        a - b
      );
      const split = await readUpdates(cutAt(bytes, places), api);
      assert.equal(split.error, undefined, `seed ${seed}`);
      assert.ok(JSON.stringify(split.updates) === updates, `cut at ${places}, seed ${seed}`);
    }
  });
}

/** All places of a short stream; of a long one those before, in and after each line end and character of many bytes. */
function placesIn(bytes: Uint8Array): number[] {
  if (bytes.length <= EVERY_BYTE) return Array.from({ length: bytes.length + 1 }, (_, at) => at);
  const places = new Set<number>();
  bytes.forEach((byte, at) => {
    const first = byte >= 0xc0;
    const lineEnd = byte === 0x0a || byte === 0x0d;
    // A character has up to four bytes.
    if (first || lineEnd) { for (const by of first ? [0, 1, 2, 3, 4] : [0, 1, 2]) places.add(at + by); }
  });
  return [...places].filter((at) => at <= bytes.length);
}

function around(dice: Dice, length: number): [number, number] {
  const middle = dice.count(0, length);
  return [Math.max(0, middle - 8), Math.min(length, middle + 8)];
}

/** Every {@linkcode STRIDE}th place, another first one for each stream. */
function sampled(places: readonly number[], { bytes }: TestStream): number[] {
  return places.filter((_, index) => (index + bytes.length) % STRIDE === 0);
}

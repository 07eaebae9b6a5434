/**
 * Damaged streams: whatever happens to the bytes, a reading ends, with events or a typed error, and it never makes
 * another error of it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { syntheticStream } from "../../../bench/stream.ts";
import type { StreamUpdate } from "../../../src/apis/api.ts";
import type { SseEvent } from "../../../src/transport/sse.ts";
import { cutAt, DIALECTS, isSameReading, readEvents, testStreams } from "../../support/streams.ts";
import { Dice } from "../fold/dice.ts";
import { cut } from "./support.ts";
import { test } from "../../support/test.ts";
import { scaled } from "../../support/scale.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes with a meaning to some reader: NUL, line ends, quotes, braces, a lone continuation, what no UTF-8 holds. */
const TELLING_BYTES = [
  0x00,
  0x0a,
  0x0d,
  0x20,
  0x22,
  0x2c,
  0x3a,
  0x5c,
  0x7b,
  0x7d,
  0x80,
  0xc0,
  0xed,
  0xf0,
  0xff,
];

/** Lines that servers, gateways and proxies put between events. */
const FOREIGN_LINES = [
  "",
  "data",
  "data: [DONE]",
  "data: null",
  "data: []",
  "data: {}",
  'data: "text"',
  'data: {"type":7}',
  'data: {"type":"error","error":null}',
  'data: {"error":"upstream is gone"}',
  'data: {"type":"response.output_item.done","output_index":1e99,"item":[]}',
  'data: {"type":"content_block_delta","index":-1,"delta":{"type":"text_delta"}}',
  `data: ${"[".repeat(3000)}`,
  "event: response.completed",
  "event: message_stop",
  "id: \u0000",
  "retry: 99999999999999999999",
  ": keep-alive",
  "\ufeff",
  "<html>502 Bad Gateway</html>",
];

/** Values that are wrong for every member. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  0.5,
  1e308,
  "",
  "\ud800",
  "__proto__",
  "\u0000\r\n\u2028",
  [],
  {},
  [null],
  { type: null },
  JSON.parse('{"__proto__":null,"constructor":1}'),
];

type Damage = (bytes: Uint8Array, dice: Dice, other: Uint8Array) => Uint8Array;

const DAMAGES: Readonly<Record<string, Damage>> = {
  "a bit flips": (bytes, dice) => {
    const at = dice.count(0, bytes.length - 1);
    return bytes.with(at, (bytes[at] as number) ^ (1 << dice.count(0, 7)));
  },
  "a byte becomes another": (bytes, dice) =>
    bytes.with(dice.count(0, bytes.length - 1), dice.pick(TELLING_BYTES)),
  "bytes are put in": (bytes, dice) => {
    const inserted = Uint8Array.from({ length: dice.count(1, 4) }, () => dice.pick(TELLING_BYTES));
    const at = dice.count(0, bytes.length);
    return joined(bytes.subarray(0, at), inserted, bytes.subarray(at));
  },
  "bytes are lost": (bytes, dice) => {
    const at = dice.count(0, bytes.length);
    return joined(bytes.subarray(0, at), bytes.subarray(at + dice.count(1, 200)));
  },
  "the end is lost": (bytes, dice) => bytes.subarray(0, dice.count(0, bytes.length)),
  "the beginning is lost": (bytes, dice) => bytes.subarray(dice.count(0, bytes.length)),
  "another stream follows": (bytes, _dice, other) => joined(bytes, other),
  "another stream cuts in": (bytes, dice, other) =>
    joined(bytes.subarray(0, dice.count(0, bytes.length)), other.subarray(dice.count(0, other.length))),
  "a line is lost": lines((all, at) => all.toSpliced(at, 1)),
  "a line comes twice": lines((all, at) => all.toSpliced(at, 0, all[at] as string)),
  "two lines change places": lines((all, at, dice) => {
    const other = dice.count(0, all.length - 1);
    return all.with(at, all[other] as string).with(other, all[at] as string);
  }),
  "a line is put in": lines((all, at, dice) => all.toSpliced(at, 0, dice.pick(FOREIGN_LINES))),
  "line ends change": (bytes, dice) => {
    const some = dice.chance(0.5) ? 1 : 0.2;
    return encoder.encode(
      decoder.decode(bytes).replaceAll("\n", (end) => dice.chance(some) ? dice.pick(["\r\n", "\r"]) : end),
    );
  },
  "a member holds something else": lines((all, at, dice) =>
    all.with(at, withOddMember(all[at] as string, dice))
  ),
  "an escape is half a character": lines((all, at, dice) =>
    all.with(
      at,
      (all[at] as string).replace(/":"/, `":"${dice.pick(["\\ud83e", "\\udd8a", "\\u0000", "\\u"])}`),
    )
  ),
};

/** One to four kinds of damage, and what they made of `bytes`, which holds at least one byte. */
function damaged(
  bytes: Uint8Array,
  other: Uint8Array,
  dice: Dice,
): { readonly bytes: Uint8Array; readonly by: readonly string[] } {
  const by: string[] = [];
  let result = bytes;
  for (let left = dice.count(1, 4); left > 0 && result.length > 0; left--) {
    const [name, damage] = dice.pick(Object.entries(DAMAGES));
    result = damage(result, dice, other);
    by.push(name);
  }
  return { bytes: result, by };
}

function lines(edit: (all: readonly string[], at: number, dice: Dice) => readonly string[]): Damage {
  return (bytes, dice) => {
    const all = decoder.decode(bytes).split("\n");
    return encoder.encode(edit(all, dice.count(0, all.length - 1), dice).join("\n"));
  };
}

/** The line with one member, at any depth of its JSON, given another value. */
function withOddMember(line: string, dice: Dice): string {
  if (!line.startsWith("data:")) return line;
  let payload: unknown;
  try {
    payload = JSON.parse(line.slice(5));
  } catch {
    return line;
  }
  const holders: Record<string, unknown>[] = [];
  const collect = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    if (Object.keys(value).length > 0) holders.push(value as Record<string, unknown>);
    Object.values(value).forEach(collect);
  };
  collect(payload);
  if (holders.length === 0) return line;
  const holder = dice.pick(holders);
  const name = dice.pick(Object.keys(holder));
  if (dice.chance(0.2)) delete holder[name];
  else holder[name] = dice.pick(ODD_VALUES);
  return `data: ${JSON.stringify(payload)}`;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Small enough to be damaged a hundred thousand times. */
const MOST_BYTES = 4 * 1024;

/** Streams with the place after each event's last byte. */
const STREAMS = await Promise.all(
  [
    ...testStreams().map(({ bytes }) => bytes).filter((bytes) => bytes.length <= MOST_BYTES),
    syntheticStream(20),
  ]
    .map(async (bytes) => ({ bytes, events: (await readEvents([bytes])).events, ends: endsOf(bytes) })),
);

for (const seeds of blocksOfSeeds()) {
  const named = `streams damaged by seeds ${seeds[0]} to ${seeds.at(-1)}`;

  test.long(`${named} give the same events however they are cut, or a typed error after the same events`, async () => {
    for (const seed of seeds) {
      const { bytes, by, dice } = damagedStream(seed);
      const label = `seed ${seed}: ${by.join(", ")}`;
      const whole = await readEvents([bytes]);
      const places = Array.from({ length: dice.count(1, 6) }, () => dice.count(0, bytes.length));
      const split = await readEvents(cutAt(bytes, places.sort((a, b) => a - b)));
      assert.ok(isSameReading(split, whole), `${label}, cut at ${places}`);
      if (seed % 100 > 0) continue;
      const size = dice.count(1, 3);
      assert.ok(isSameReading(await readEvents(cut(bytes, size)), whole), `${label}, in chunks of ${size}`);
    }
  });

  Deno.test(`${named} give the events before the damage as they were sent`, async () => {
    let intact = 0;
    const some = seeds.slice(0, seeds.length / 5);
    for (const seed of some) {
      const { stream, bytes, by } = damagedStream(seed);
      const first = firstDifference(stream.bytes, bytes);
      const count = stream.ends.filter((end) => end <= first).length;
      if (count === 0) continue;
      intact += count;
      const { events } = await readEvents([bytes]);
      const before = { events: stream.events.slice(0, count), error: undefined };
      assert.ok(
        isSameReading({ events: events.slice(0, count), error: undefined }, before),
        `seed ${seed}: ${by.join(", ")}`,
      );
    }
    assert.ok(intact > some.length, `only ${intact} events came before the damage in ${some.length} streams`);
  });

  test.long(`${named} end once and last in both assemblers, with items that are items`, async () => {
    const statuses = new Map<string, number>();
    for (const seed of seeds) {
      const { bytes, by } = damagedStream(seed);
      const { events } = await readEvents([bytes]);
      for (const api of DIALECTS) {
        const assembler = api.newAssembler();
        try {
          const updates = [...feedAll(assembler, events), ...assembler.end()];
          const status = checked(updates);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          assert.deepEqual(
            [...feedAll(assembler, events), ...assembler.end()],
            [],
            "nothing comes after the end",
          );
        } catch (error) {
          throw new Error(`seed ${seed}: ${by.join(", ")}`, { cause: error });
        }
      }
    }
    // The damage is neither so slight nor so heavy that only one end was tried.
    for (const status of ["completed", "failed", "cut"]) assert.ok((statuses.get(status) ?? 0) > 5, status);
  });
}

/** Seeds of 100,000 damaged streams, or of a twenty-fifth of them in the gate, in blocks of 500. */
function blocksOfSeeds(): number[][] {
  const blocks = scaled(8, 200);
  return Array.from(
    { length: blocks },
    (_, block) => Array.from({ length: 500 }, (_, at) => block * 500 + at),
  );
}

function damagedStream(seed: number) {
  const dice = new Dice(seed);
  const stream = dice.pick(STREAMS);
  return { stream, dice, ...damaged(stream.bytes, dice.pick(STREAMS).bytes, dice) };
}

function* feedAll(
  assembler: { feed(event: SseEvent): readonly StreamUpdate[] },
  events: readonly SseEvent[],
): Generator<StreamUpdate> {
  for (const event of events) yield* assembler.feed(event);
}

/** The response's status, when the updates are what callers rely on. */
function checked(updates: readonly StreamUpdate[]): string {
  const last = updates.at(-1);
  assert.ok(last?.kind === "finished" && updates.filter(({ kind }) => kind === "finished").length === 1);
  const { status, failure, notices } = last.response;
  assert.equal(failure !== undefined, status === "failed" || status === "cut");
  assert.ok(notices.every((notice) => typeof notice === "string"));
  for (const update of updates) {
    if (update.kind === "item") assert.ok(typeof update.item.type === "string", "an item has a type");
    if ("delta" in update) assert.equal(typeof update.delta, "string");
    if ("outputIndex" in update) {
      assert.ok(Number.isSafeInteger(update.outputIndex) && update.outputIndex >= 0);
    }
  }
  JSON.stringify(updates);
  return status;
}

/** Places after the blank line of each event, in a stream whose lines end with LF. */
function endsOf(bytes: Uint8Array): number[] {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (text.includes("\r")) return [];
  const ends: number[] = [];
  let at = 0;
  for (const block of text.split("\n\n").slice(0, -1)) {
    at += new TextEncoder().encode(block).length + 2;
    if (/^data/m.test(block)) ends.push(at);
  }
  return ends;
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return at;
  return length;
}

Deno.test("a place in the output that is no place is not believed", () => {
  for (const place of ["-1", "0.5", "1e308", "1e999", '"1"', "null"]) {
    const item = '{"type":"message","id":"msg_1","role":"assistant","content":[]}';
    const block = '{"type":"text","text":""}';
    const streams = [
      [`{"type":"response.output_item.done","output_index":${place},"item":${item}}`],
      [
        '{"type":"message_start","message":{"id":"msg_1","content":[]}}',
        `{"type":"content_block_start","index":${place},"content_block":${block}}`,
        `{"type":"content_block_delta","index":${place},"delta":{"type":"text_delta","text":"Hi"}}`,
        `{"type":"content_block_stop","index":${place}}`,
      ],
    ];
    for (const [index, api] of DIALECTS.entries()) {
      const events = (streams[index] as string[]).map((data) => ({ event: undefined, data }));
      const updates = [...feedAll(api.newAssembler(), events)];
      const items = updates.filter((update) => update.kind === "item");
      assert.deepEqual(items.map(({ outputIndex }) => outputIndex), [0], place);
    }
  }
});

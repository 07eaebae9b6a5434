/** Server-sent events, in any cutting, against a plain reading of the format line by line. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { RepriseError } from "../../../src/domain/errors.ts";
import { readSse, sseBlocks, type SseEvent } from "../../../src/transport/sse.ts";
import { test } from "../../support/test.ts";

const encoder = new TextEncoder();

/** Bytes cut into chunks of `size`. */
function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

interface Read {
  readonly events: readonly SseEvent[];
  readonly error: string | undefined;
}

async function read(chunks: readonly Uint8Array[], limits?: Parameters<typeof readSse>[1]): Promise<Read> {
  const events: SseEvent[] = [];
  try {
    for await (const batch of readSse(ReadableStream.from(chunks), limits)) {
      events.push(...batch.map(({ event, data }) => ({ event, data })));
    }
    return { events, error: undefined };
  } catch (error) {
    assert.ok(error instanceof RepriseError && error.code === "bad_stream", String(error));
    return { events, error: error.message };
  }
}

/** The rules of the format, line by line, for a whole text. */
function eventsIn(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let event = "";
  let data: string[] = [];
  for (const line of `${text.replace(/^\ufeff/, "")}\n\n`.split(/\r\n|\r|\n/)) {
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    if (field === "event") event = value;
    if (line !== "") continue;
    if (data.length > 0) events.push({ event: event === "" ? undefined : event, data: data.join("\n") });
    event = "";
    data = [];
  }
  return events;
}

const MIXED =
  '\ufeff: comment\nevent: a\ndata: {"x":1}\n\nid: 7\r\ndata: Zwölf Boxkämpfer 🦊\r\ndata: zwei\r\n\r\n' +
  "event: b\rdata:tight\r\rretry: 10\nunknown: field\ndata\n\nevent: lonely\n\ndata: letztes 🦊";

Deno.test("every two-way split of a stream gives the events of the format's rules", async () => {
  const events = [
    { event: "a", data: '{"x":1}' },
    { event: undefined, data: "Zwölf Boxkämpfer 🦊\nzwei" },
    { event: "b", data: "tight" },
    { event: undefined, data: "" },
    { event: undefined, data: "letztes 🦊" },
  ];
  const bytes = encoder.encode(MIXED);
  for (let at = 0; at <= bytes.length; at++) {
    const split = await read([bytes.subarray(0, at), bytes.subarray(at)]);
    assert.deepEqual(split, { events, error: undefined }, `${at}`);
  }
});

Deno.test("a last event is delivered without its blank line, with any line end", async () => {
  for (const end of ["", "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "\r\n\r"]) {
    const { events } = await read([encoder.encode(`event: x\ndata: 1${end}`)]);
    assert.deepEqual(events, [{ event: "x", data: "1" }], JSON.stringify(end));
  }
});

const line = fc.oneof(
  fc.constantFrom(
    "data: x",
    "data:",
    "data",
    ": c",
    "event: e",
    "event",
    "id: 1",
    " data: b",
    "",
    "",
    "junk",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
);
const framed = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")), { maxLength: 20 })
  .map((lines) => lines.flat().join(""));
const noise = fc.array(
  fc.oneof(
    fc.constantFrom(..."data event id : \n \r \r\n \n\n x \ufeff \ufffd".split(" "), " "),
    fc.string({ unit: "grapheme", maxLength: 3 }),
  ),
  { maxLength: 40 },
).map((parts) => parts.join("").toWellFormed());

test.long("random chunks of random streams have the events of a plain reading, and so have blocks", async () => {
  await fc.assert(
    fc.asyncProperty(noise, framed, fc.integer({ min: 1, max: 12 }), async (odd, lines, size) => {
      for (const text of [odd, `${lines}${odd}`, `\ufeff${odd}${lines}`]) {
        const bytes = encoder.encode(text);
        const events = eventsIn(text);
        assert.deepEqual(await read(cut(bytes, size)), { events, error: undefined });
        const blocks = sseBlocks(bytes);
        assert.deepEqual(
          blocks.flatMap(({ event, data }) =>
            data === undefined ? [] : [{ event: event || undefined, data }]
          ),
          events,
        );
        assert.deepEqual(blocks.flatMap(({ start, end }) => [...bytes.subarray(start, end)]), [...bytes]);
      }
    }),
    { numRuns: 500 },
  );
});

test.long("random splits give the same events, invalid bytes included", async () => {
  const bytes = fc.tuple(framed, fc.uint8Array({ maxLength: 4 }), framed).map(([before, noise, after]) =>
    Uint8Array.of(...encoder.encode(before), ...noise, ...encoder.encode(after))
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), async (whole, size) => {
      assert.deepEqual(await read(cut(whole, size)), await read([whole]));
    }),
    { numRuns: 300 },
  );
});

Deno.test("an event is delivered with the chunk that ends it, also where a CR ends it", async () => {
  for (const end of ["\n", "\r"]) {
    const chunks = [`data: 1${end}${end}`, "data: 2"].map((text) => encoder.encode(text));
    const events = readSse(ReadableStream.from(chunks));
    assert.deepEqual((await events.next()).value, [{ event: undefined, data: "1" }]);
  }
});

/** Bytes that are not UTF-8. */
const ILL_FORMED: Readonly<Record<string, readonly number[]>> = {
  "a lone continuation byte": [0x80],
  "an encoded surrogate": [0xed, 0xa0, 0x80],
  "a character cut short by a line end": [0xf0, 0x9f, 0xa6, 0x0a],
};

for (const [name, noise] of Object.entries(ILL_FORMED)) {
  Deno.test(`bytes that are not UTF-8 end the stream after the events before them: ${name}`, async () => {
    const [before, after] = ["data: gut\n\ndata: ü", "\n\ndata: x\n\n"].map((text) => encoder.encode(text));
    const bytes = Uint8Array.of(...before ?? [], ...noise, ...after ?? []);
    for (const size of [1, 2, 3, 7, bytes.length]) {
      assert.deepEqual(await read(cut(bytes, size)), {
        events: [{ event: undefined, data: "gut" }],
        error: "The stream holds bytes that are not UTF-8",
      });
    }
  });
}

Deno.test("bytes that end inside a character are a cut, not an error", async () => {
  const bytes = encoder.encode("data: 1\n\ndata: 🦊").subarray(0, -1);
  const events = ["1", ""].map((data) => ({ event: undefined, data }));
  assert.deepEqual(await read(cut(bytes, 4)), { events, error: undefined });
});

Deno.test("an event over the cap ends the stream however it is cut, one at the cap does not", async () => {
  const limits = { maxEventBytes: 100 };
  const around = (event: string) => encoder.encode(`data: ok\n\n${event}\n\ndata: after\n\n`);
  const error = "The stream holds an event of more than 100 characters";
  for (const size of [1, 10, 1000]) {
    const [fits, long, lines] = ["x".repeat(100), "x".repeat(121), "123456789\ndata: ".repeat(30)].map((
      data,
    ) => cut(around(`data: ${data}`), size));
    assert.equal((await read(fits ?? [], limits)).events.length, 3);
    for (const over of [long, lines]) {
      const { events, error: found } = await read(over ?? [], limits);
      assert.deepEqual([events.length, found], [1, error]);
    }
  }
});

Deno.test("a stream without a line end is stopped at the cap, not kept", async () => {
  let sent = 0;
  async function* endless() {
    for (; sent < 10_000; sent++) yield encoder.encode(sent === 0 ? "data: " : "x".repeat(1000));
  }
  const reading = Array.fromAsync(readSse(endless(), { maxEventBytes: 50_000 }));
  await assert.rejects(reading, { code: "bad_stream" });
  assert.ok(sent < 60, `${sent} chunks were read`);
});

Deno.test("a long line costs linear time", async () => {
  const size = 16 * 1024 * 1024;
  const start = performance.now();
  const { events } = await read(cut(encoder.encode(`data: ${"x".repeat(size)}\n\n`), 4096));
  assert.equal(events[0]?.data.length, size);
  // Some 50 ms; half a minute where the line is searched from its start for each chunk.
  assert.ok(performance.now() - start < 5000);
});

Deno.test("leaving early lets go of the body, and its own error reaches the reader", async () => {
  const released: string[] = [];
  async function* body(name: string, error?: Error) {
    try {
      yield encoder.encode("data: 1\n\ndata: 2");
      if (error !== undefined) throw error;
      yield encoder.encode("\n\n");
    } finally {
      released.push(name);
    }
  }
  for await (const _ of readSse(body("left"))) break;
  const events = readSse(body("failed", new RepriseError("stream_cut", "The connection broke off")));
  assert.equal((await events.next()).value?.length, 1);
  await assert.rejects(() => events.next(), { code: "stream_cut" });
  assert.deepEqual(await events.next(), { done: true, value: undefined });
  assert.deepEqual(released, ["left", "failed"]);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { RepriseError } from "../../../src/domain/errors.ts";
import { readSse, type SseEvent, type SseLimits } from "../../../src/transport/sse.ts";
import { cut } from "./support.ts";
import { test } from "../../support/test.ts";

const encoder = new TextEncoder();

interface Read {
  readonly events: readonly SseEvent[];
  readonly error: string | undefined;
}

async function read(chunks: readonly Uint8Array[], limits?: SseLimits): Promise<Read> {
  const events: SseEvent[] = [];
  try {
    for await (const batch of readSse(ReadableStream.from(chunks), limits)) {
      events.push(...batch.map(({ event, data }) => ({ event, data })));
    }
    return { events, error: undefined };
  } catch (error) {
    assert.ok(error instanceof RepriseError, String(error));
    assert.equal(error.code, "bad_stream");
    return { events, error: error.message };
  }
}

function readText(text: string): Promise<Read> {
  return read([encoder.encode(text)]);
}

const MIXED =
  '\ufeff: comment\nevent: a\ndata: {"x":1}\n\nid: 7\r\ndata: Zwölf Boxkämpfer 🦊\r\ndata: zwei\r\n\r\n' +
  "event: b\rdata:tight\r\rretry: 10\nunknown: field\ndata\n\nevent: lonely\n\ndata: letztes 🦊";
const MIXED_EVENTS = [
  { event: "a", data: '{"x":1}' },
  { event: undefined, data: "Zwölf Boxkämpfer 🦊\nzwei" },
  { event: "b", data: "tight" },
  { event: undefined, data: "" },
  { event: undefined, data: "letztes 🦊" },
];

Deno.test("events are read by the rules of the format: line ends, comments, several data lines, byte order mark", async () => {
  assert.deepEqual(await readText(MIXED), { events: MIXED_EVENTS, error: undefined });
});

Deno.test("a last event is delivered without its blank line, with any line end", async (t) => {
  for (const end of ["", "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "\r\n\r"]) {
    await t.step(JSON.stringify(end), async () => {
      const { events } = await readText(`event: x\ndata: 1${end}`);
      assert.deepEqual(events, [{ event: "x", data: "1" }]);
    });
  }
});

Deno.test("a body of nothing, of a mark or of comments has no events", async () => {
  for (const text of ["", "\ufeff", ": OPENROUTER PROCESSING\n\n", "\n\n\n"]) {
    assert.deepEqual(await readText(text), { events: [], error: undefined });
  }
});

Deno.test("every two-way split and single bytes give the same events", async () => {
  const bytes = encoder.encode(MIXED);
  for (let at = 0; at <= bytes.length; at++) {
    const { events, error } = await read([bytes.subarray(0, at), bytes.subarray(at)]);
    assert.deepEqual({ at, events, error }, { at, events: MIXED_EVENTS, error: undefined });
  }
  assert.deepEqual((await read(cut(bytes, 1))).events, MIXED_EVENTS);
});

const line = fc.oneof(
  fc.constantFrom("data: x", "data:", "data", ": c", "event: e", "id: 1", "retry: 5", "", "", "junk"),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
);
const framed = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")), { maxLength: 20 })
  .map((lines) => lines.flat().join(""));

test.long("random splits of random streams give the same events, invalid bytes included", async () => {
  const bytes = fc.tuple(framed, fc.option(fc.uint8Array({ maxLength: 4 })), framed).map((
    [before, noise, after],
  ) => Uint8Array.of(...encoder.encode(before), ...(noise ?? []), ...encoder.encode(after)));
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(fc.nat(200), { maxLength: 6 }), async (whole, cuts) => {
      const points = [...new Set([0, ...cuts.map((at) => Math.min(at, whole.length)), whole.length])].sort((
        a,
        b,
      ) => a - b);
      const chunks = points.slice(1).map((end, index) => whole.subarray(points[index], end));
      assert.deepEqual(await read(chunks), await read([whole]));
      assert.deepEqual(await read(cut(whole, 1)), await read([whole]));
    }),
    { numRuns: 300 },
  );
});

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

test.long("random chunks of random streams have the events of a plain reading line by line", async () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(
        "data",
        "event",
        "id",
        ":",
        ": ",
        " ",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "x",
        "\ufeff",
        "\ufffd",
      ),
      fc.string({ unit: "grapheme", maxLength: 3 }),
    ),
    { maxLength: 40 },
  ).map((parts) => parts.join("").toWellFormed());
  await fc.assert(
    fc.asyncProperty(pieces, framed, fc.integer({ min: 1, max: 12 }), async (noise, lines, size) => {
      for (const text of [noise, `${lines}${noise}`, `\ufeff${noise}${lines}`]) {
        assert.deepEqual(await read(cut(encoder.encode(text), size)), {
          events: eventsIn(text),
          error: undefined,
        });
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("an event is delivered with the chunk that ends it, also where a CR ends it", async () => {
  for (const end of ["\n", "\r"]) {
    const events = readSse(
      ReadableStream.from([encoder.encode(`data: 1${end}${end}`), encoder.encode("data: 2")]),
    );
    assert.deepEqual((await events.next()).value, [{ event: undefined, data: "1" }]);
  }
});

Deno.test("a byte order mark before the first field is no part of its name, and only the first is removed", async () => {
  assert.deepEqual((await readText("\ufeffdata: 1\n\n\ufeffdata: 2\n\n")).events, [{
    event: undefined,
    data: "1",
  }]);
});

Deno.test("bytes that are not UTF-8 end the stream after the events before them", async (t) => {
  const rows: [string, number[]][] = [
    ["a lone continuation byte", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["a character cut short by a line end", [0xf0, 0x9f, 0xa6, 0x0a]],
    ["beyond Unicode", [0xf5, 0x80, 0x80, 0x80]],
  ];
  for (const [name, noise] of rows) {
    await t.step(name, async () => {
      const bytes = Uint8Array.of(
        ...encoder.encode("data: gut\n\ndata: ü"),
        ...noise,
        ...encoder.encode("\n\ndata: x\n\n"),
      );
      for (const size of [1, 2, 3, 7, bytes.length]) {
        assert.deepEqual(await read(cut(bytes, size)), {
          events: [{ event: undefined, data: "gut" }],
          error: "The stream holds bytes that are not UTF-8",
        });
      }
    });
  }
});

Deno.test("bytes that end inside a character are a cut, not an error", async () => {
  const bytes = encoder.encode("data: 1\n\ndata: 🦊").subarray(0, -1);
  assert.deepEqual(await read(cut(bytes, 4)), {
    events: [{ event: undefined, data: "1" }, { event: undefined, data: "" }],
    error: undefined,
  });
});

Deno.test("an event over the cap ends the stream however it is cut, one at the cap does not", async () => {
  const limits = { maxEventBytes: 100 };
  const text = (length: number) =>
    encoder.encode(`data: ok\n\ndata: ${"x".repeat(length)}\n\ndata: after\n\n`);
  const lines = (length: number) => encoder.encode(`data: ok\n\n${"data: 123456789\n".repeat(length)}\n`);
  for (const size of [1, 10, 1000]) {
    assert.equal((await read(cut(text(100), size), limits)).events.length, 3);
    const over = await read(cut(text(101 + 20), size), limits);
    assert.deepEqual([over.events.length, over.error], [
      1,
      "The stream holds an event of more than 100 characters",
    ]);
    assert.equal((await read(cut(lines(30), size), limits)).error, over.error);
  }
  assert.ok((await read([text(101)], limits)).error);
});

Deno.test("a stream without a line end is stopped at the cap, not kept", async () => {
  let sent = 0;
  async function* endless() {
    while (sent < 10_000) {
      sent++;
      yield encoder.encode(sent === 1 ? "data: " : "x".repeat(1000));
    }
  }
  await assert.rejects(
    async () => {
      for await (const _ of readSse(endless(), { maxEventBytes: 50_000 }));
    },
    { code: "bad_stream" },
  );
  assert.ok(sent < 60, `${sent} chunks were read`);
});

Deno.test("a long line costs linear time", async () => {
  const size = 16 * 1024 * 1024;
  const bytes = encoder.encode(`data: ${"x".repeat(size)}\n\n`);
  const start = performance.now();
  const { events } = await read(cut(bytes, 4096));
  const took = performance.now() - start;
  assert.equal(events[0]?.data.length, size);
  // Some 50 ms; half a minute where the line is searched from its start for each chunk.
  assert.ok(took < 5000, `${took} ms`);
});

Deno.test("leaving early lets go of the body, and so does an error", async () => {
  const released: string[] = [];
  async function* body(name: string, text: string) {
    try {
      for (let part = 0; part < 1000; part++) yield encoder.encode(text);
    } finally {
      released.push(name);
    }
  }
  for await (const _ of readSse(body("left", "data: 1\n\n"))) break;
  await assert.rejects(async () => {
    for await (const _ of readSse(body("failed", "data: \xff".padEnd(200)), { maxEventBytes: 100 }));
  });
  assert.deepEqual(released, ["left", "failed"]);
});

Deno.test("an error of the body reaches the reader, and nothing comes after it", async () => {
  async function* body() {
    yield encoder.encode("data: 1\n\ndata: 2");
    throw new RepriseError("stream_cut", "The connection broke off");
  }
  const events = readSse(body());
  assert.equal((await events.next()).value?.length, 1);
  await assert.rejects(() => events.next(), { code: "stream_cut" });
  assert.deepEqual(await events.next(), { done: true, value: undefined });
});

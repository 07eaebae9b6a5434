/** Answers that `record` keeps, keeps as cut, or drops: their encodings, their ends, and what no fixture can hold. */
import assert from "node:assert/strict";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import {
  answering,
  COMPLETED,
  rawRequest,
  RawUpstream,
  sse,
  STREAM_HEAD,
  streaming,
  write,
} from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { recording, withHome } from "./home.ts";
import { exchangesOf } from "./recording_files.ts";

const DELTA = sse({ type: "response.output_text.delta", sequence_number: 1, delta: "grüß dich" });
const PLAIN = new TextEncoder().encode(`${DELTA.repeat(50)}${COMPLETED}`);
const RANDOM = new TextEncoder().encode(
  Array.from({ length: 4000 }, (_, n) => Math.sin(n).toString(36)).join(),
);
const SKIPPABLE = new Uint8Array([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);
/** Several frames, of which one is empty, between frames that decoders skip. */
const frames = (bytes: Uint8Array) =>
  new Uint8Array([
    ...SKIPPABLE,
    ...[[0, 900], [0, 0], [900]].flatMap((range) => [...zstdCompressSync(bytes.subarray(...range))]),
    ...SKIPPABLE,
  ]);
type Encode = (bytes: Uint8Array) => Uint8Array;
const ENCODINGS: Readonly<Record<string, Encode>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: frames,
  "zstd, gzip": (bytes) => gzipSync(zstdCompressSync(bytes)),
};

const encoded = (encoding: string, body: Uint8Array, type = "text/event-stream") =>
  answering(
    `200 OK\r\ncontent-type: ${type}\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}`,
    body,
  );

for (const [encoding, encode] of Object.entries(ENCODINGS)) {
  recording(
    `an answer in ${encoding} is decoded to its end, for the client and the fixture`,
    encoded(encoding, encode(PLAIN)),
    async ({ recorder }) => {
      const response = await recorder.post("/v1/responses", { model: "gpt-5.6" });
      assert.equal(response.headers.get("content-encoding"), null);
      assert.deepEqual(await response.bytes(), PLAIN);
      assert.deepEqual((await recorder.fixture()).exchanges[0]?.body, PLAIN);
    },
  );
}

recording(
  "a request in gzip is passed on unchanged, and recorded decoded",
  answering("200 OK\r\ncontent-type: application/json", "{}"),
  async ({ recorder, upstream: { requests } }) => {
    const asked = { model: "gpt-5.6", input: "hi" };
    const body = new Uint8Array(gzipSync(JSON.stringify(asked)));
    const headers = { "content-encoding": "gzip" };
    await (await recorder.fetch("/v1/responses", { method: "POST", headers, body })).text();
    assert.deepEqual(requests[0]?.body, body);
    assert.match(requests[0]?.head ?? "", /content-encoding: gzip/i);
    assert.deepEqual((await recorder.fixture()).exchanges[0]?.request.body, asked);
  },
);

/** A runtime that decodes gzip unasked does not say so: the recorder takes the body for what it seems. */
const UNDONE = await undoesGzipUnasked();
const damaged: Encode = (bytes) => bytes.map((byte, at) => at >= 16 ? byte ^ 0x5a : byte);
const halved: Encode = (bytes) => bytes.slice(0, bytes.length >> 1);

/** Compressed answers that are altered on their way, flags, the reason why they are dropped, and the number of losses. */
const FLAWED: readonly (readonly [string, Encode, readonly string[], string | null, number])[] = [
  ...["gzip", "zstd"].map((encoding) => [encoding, damaged, [], "unreadable", 1] as const),
  ...["br", "zstd"].map((encoding) => [encoding, halved, [], "cut", 0] as const),
  ["gzip", damaged, ["--keep-cut"], null, 0],
];

for (const [encoding, alter, flags, reason, losses] of FLAWED) {
  const encode = encoding === "zstd" ? zstdCompressSync : ENCODINGS[encoding] as Encode;
  const [flaw, kept] = [alter === halved ? "cut" : "damaged", reason ?? "kept as cut"];
  recording(
    `an answer in ${encoding} that is ${flaw} breaks off, and is ${kept}`,
    encoded(encoding, alter(new Uint8Array(encode(RANDOM))), "application/json"),
    async ({ recorder }) => {
      await assert.rejects((await recorder.post("/v1/responses", {})).bytes());
      await recorder.reported(1);
      const [event] = recorder.exchanges;
      assert.deepEqual([event.reason ?? null, event.ended], [reason, "cut"]);
      const { unkept, code } = await recorder.end();
      assert.deepEqual([unkept, code], [losses, losses === 0 ? 0 : 7]);
    },
    { flags, register: (name, fn) => Deno.test({ name, fn, ignore: UNDONE && encoding !== "zstd" }) },
  );
}

recording(
  "a body that grows without measure when it is decoded breaks off, and is not recorded",
  encoded("zstd", zstdCompressSync(new Uint8Array(24 * 1024 ** 2)), "application/json"),
  async ({ recorder }) => {
    await assert.rejects((await recorder.post("/v1/responses", {})).bytes());
    await recorder.reported(1);
    assert.equal(recorder.exchanges[0].reason, "unreadable");
  },
  { register: test.long },
);

recording(
  "an unknown encoding goes through unchanged, and is not recorded",
  encoded("x-own", new TextEncoder().encode("abc"), "text/plain"),
  async ({ recorder }) => {
    const response = await recorder.fetch("/v1/models");
    assert.deepEqual([response.headers.get("content-encoding"), await response.text()], ["x-own", "abc"]);
    await recorder.reported(1);
    assert.equal(recorder.exchanges[0].reason, "encoding");
  },
);

/** Heads of answers that no fixture can hold, and the reason. */
const UNFIT: readonly (readonly [head: string, reason: string])[] = [
  ["101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket", "invalid"],
  ["999 Denied\r\ncontent-length: 2", "invalid"],
  ["200 OK\r\nx-note: a\x01b\r\ncontent-length: 2", "unreadable"],
  ["200 OK\r\ncontent-length: two", "unreadable"],
  [`200 OK\r\nx-note: ${"a".repeat(1024 * 1024)}`, "unreadable"],
];

for (const [head, reason] of UNFIT) {
  recording(
    `an upstream that answers ${JSON.stringify(head.slice(0, 32))} costs that exchange, and no other`,
    async (connection, request) => {
      if (request.head.includes("/unfit")) await write(connection, `HTTP/1.1 ${head}\r\n\r\n{}`);
      else await streaming(COMPLETED)(connection, request);
    },
    async ({ recorder }) => {
      await recorder.ask("/v1/responses", { model: "m", input: "one" });
      const unfit = await recorder.ask("/v1/unfit", {});
      assert.equal(unfit.status, 502);
      const says = reason === "unreadable" ? /Cannot read the answer of .*: it is not valid HTTP/ : /./;
      assert.match(unfit.text, says);
      await recorder.ask("/v1/responses", { model: "m", input: "two" });
      const { published, unkept, code } = await recorder.end();
      assert.deepEqual([published, unkept, code, exchangesOf(recorder.out).length], [2, 1, 7, 2]);
      assert.deepEqual(recorder.exchanges.map(({ reason }) => reason), [null, reason, null]);
    },
  );
}

recording(
  "a GET with a body, which the runtime cannot send, is refused as such",
  answering("200 OK", "{}"),
  async ({ recorder, upstream }) => {
    const head = `GET /v1/models HTTP/1.1\r\nhost: ${new URL(recorder.origin).host}\r\nconnection: close\r\n`;
    const refused = await rawRequest(recorder.origin, `${head}content-length: 1\r\n\r\nx`);
    assert.match(refused, /^HTTP\/1.1 501 [^]*A GET or HEAD request with a body cannot be passed on/);
    await rawRequest(recorder.origin, `${head}\r\n`);
    assert.deepEqual([(await recorder.end()).published, upstream.requests.length], [1, 1]);
  },
);

const PIECE = new Uint8Array(16 * 1024 ** 2);
recording(
  "a body over 256 MiB is passed on and not kept; nothing of it stays on the disk",
  async (connection, { head }) => {
    const pieces = head.includes("/large") ? 17 : 0;
    const stated = STREAM_HEAD.replace(
      "transfer-encoding: chunked",
      `content-length: ${pieces * PIECE.length}`,
    );
    await write(connection, stated.replace("text/event-stream", "application/octet-stream"));
    for (let index = 0; index < pieces; index++) await write(connection, PIECE);
  },
  async ({ recorder }) => {
    let bytes = 0;
    for await (const chunk of (await recorder.fetch("/v1/large")).body ?? []) bytes += chunk.length;
    assert.equal(bytes, 17 * PIECE.length);
    await (await recorder.fetch("/v1/files")).bytes();
    const { published, unkept } = await recorder.end();
    assert.deepEqual([published, unkept, recorder.exchanges[0].reason], [1, 1, "too_large"]);
    const names = [...Deno.readDirSync(recorder.out)].map(({ name }) => name).sort();
    assert.deepEqual(names, [".gitattributes", "exchanges", "fixture.json"]);
  },
  { register: test.long },
);

const chunk = (index: number, finish_reason: string | null, more = {}) =>
  `data: ${JSON.stringify({ choices: [{ index, delta: { content: "a" }, finish_reason }], ...more })}\n\n`;
const DONE = "data: [DONE]\n\n";
const usage = { stream: true, stream_options: { include_usage: true } };
const long = `data: ${JSON.stringify({ type: "x", text: "y".repeat(140_000) })}\n\n`;
const late = `event: x\ndata: ${
  JSON.stringify({ response: { output: "y".repeat(140_000) }, type: "response.completed" })
}\n\n`;

const error = 'data: {"error":{"message":"Overloaded"}}\n\n';
const counted = 'data: {"choices":[],"usage":{"total_tokens":1}}\n\n';
type Stream = readonly [stream: string, whole: boolean | "usage", asked?: object];
/** By path, streams with members of their requests, and whether they are whole; `usage` if they lack that alone. */
const STREAMS: Readonly<Record<string, readonly Stream[]>> = {
  "/v1/messages": [
    [sse({ type: "message_stop" }), true],
    [sse({ type: "error", error: { type: "overloaded_error" } }), true],
    [sse({ type: "message_start" }), false],
  ],
  "/v1/some/other/stream": [["data: 1\n\n", true]],
  "/api/forms/responses": [["data: 1\n\n", true, { model: undefined, messages: undefined, to: "bob" }]],
  "/v1/chat/completions": [
    [chunk(0, "stop"), true],
    [chunk(0, "stop") + chunk(1, null) + DONE, false],
    [chunk(0, "stop") + DONE, false, { n: 2 }],
    [chunk(0, "stop", { usage: null }), false, usage],
    [chunk(0, null) + chunk(1, null) + chunk(1, "length") + chunk(0, "stop"), true],
    [chunk(0, "stop") + counted, true, usage],
    [chunk(0, "stop", { usage: { total_tokens: 1 } }), true, usage],
    [chunk(0, "stop", { usage: null }) + DONE, "usage", usage],
    [`event: error\n${error}`, true],
    [chunk(0, "") + DONE, false],
    [counted + DONE, false, usage],
    [chunk(0, "stop"), true, { stream_options: usage.stream_options }],
  ],
  "/v1/responses": [
    [long + late + long, true],
    [long + late.slice(0, -5), false],
    [`${long}${COMPLETED}`.replaceAll("\n", "\r\n"), true],
    [`${DELTA}data: {"type":\ndata: "response.completed"}\n\n`, true],
    [sse({ type: "response.output_text.delta", delta: '{"type":"response.completed"}' }), false],
    [DELTA + sse({ type: "response.error", error: { message: "Overloaded" } }), true],
  ],
};

withHome("streams of each API end as they do there, wherever the file is cut into pieces", async (home) => {
  for (const [path, streams] of Object.entries(STREAMS)) {
    for (const [stream, whole, asked = {}] of streams) {
      await using upstream = new RawUpstream(streaming(stream));
      await using recorder = await home.record(upstream.origin, { out: crypto.randomUUID() });
      const api = path === "/v1/responses" ? { input: "" } : { messages: [] };
      await recorder.ask(path, { model: "m", ...api, ...asked });
      await recorder.reported(1);
      const [event] = recorder.exchanges;
      const shown = `${path} ${stream.slice(0, 90)}`;
      assert.equal(event.reason, whole === false ? "no_terminal_event" : null, shown);
      assert.equal(event.lacks_usage === true, whole === "usage", shown);
    }
  }
}, test.long);

async function undoesGzipUnasked(): Promise<boolean> {
  await using upstream = new RawUpstream(encoded("gzip", gzipSync("abc")));
  const response = await fetch(upstream.origin, { headers: { "accept-encoding": "identity" } });
  return (await response.bytes()).length === 3;
}

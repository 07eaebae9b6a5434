/** Traffic that passes `record`: bytes, chunks and headers reach both sides unchanged, and the fixture has them. */
import assert from "node:assert/strict";
import {
  answering,
  COMPLETED,
  rawRequest,
  RawUpstream,
  sse,
  STREAM_HEAD,
  streaming,
  write,
  writeChunk,
} from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { recording, withHome } from "./home.ts";
import { exchangesOf } from "./recording_files.ts";

/** Body that shows the API of its request: the server is not known. */
const ASKED = { model: "m", input: "Say hi" };
const DELTA = sse({ type: "response.output_text.delta", sequence_number: 1, delta: "grüß dich" });
const JSON_HEAD = "200 OK\r\ncontent-type: application/json";

const BYTES = new TextEncoder().encode(`${DELTA}${COMPLETED}`);
const CUTS = [0, 1, 2, 60, 61, 117, 118, 119, BYTES.length];

recording(
  "a stream reaches client and fixture byte for byte, in the chunks in which it came",
  streaming(...CUTS.slice(1).map((end, index) => BYTES.subarray(CUTS[index], end))),
  async ({ recorder }) => {
    const response = await recorder.post("/v1/responses", { model: "gpt-5.6", input: "hi", stream: true });
    assert.deepEqual(await response.bytes(), BYTES);
    const { exchanges: [exchange], header } = await recorder.fixture();
    assert.deepEqual([exchange?.body, header.models], [BYTES, ["gpt-5.6"]]);
    const { chunks, ended, terminal } = exchange?.response;
    assert.deepEqual(chunks.map(([offset]: number[]) => offset), CUTS.slice(0, -1));
    assert.deepEqual([ended, terminal], [undefined, undefined], "it is complete");
    // Git converts no line ends of it.
    assert.match(Deno.readTextFileSync(`${recorder.out}/.gitattributes`), /^\* -text$/m);
  },
);

withHome("headers and each chunk are passed on before the next chunk exists", async (home) => {
  let taken = Promise.withResolvers<void>();
  const texts = ["data: 1\n\n", "data: 2\n\n", COMPLETED];
  await using upstream = new RawUpstream(async (connection) => {
    await write(connection, STREAM_HEAD);
    for (const text of texts) {
      // The upstream continues only after the client has it.
      await taken.promise;
      taken = Promise.withResolvers();
      await writeChunk(connection, text);
    }
    await write(connection, "0\r\n\r\n");
  });
  await using recorder = await home.record(upstream.origin);
  const response = await recorder.post("/v1/responses", {});
  taken.resolve();
  const seen: string[] = [];
  for await (const chunk of response.body ?? []) {
    seen.push(new TextDecoder().decode(chunk));
    taken.resolve();
  }
  assert.deepEqual(seen, texts);
});

withHome("method, path, query, headers and body reach the upstream as the client sent them", async (home) => {
  await using upstream = new RawUpstream(answering(JSON_HEAD, "{}"));
  await using recorder = await home.record(`${upstream.origin}/gateway`);
  const body = '{ "a" : 1.0 }';
  const kept = { authorization: "Bearer a-key-of-the-client", "x-own": "1" };
  const headers = { ...kept, "accept-encoding": "gzip, br" };
  const target = "/v1/things?limit=2&after=a%2Fb";
  await (await recorder.fetch(target, { method: "PATCH", headers, body })).text();
  const [{ head, body: sent } = assert.fail()] = upstream.requests;
  const [line, ...lines] = head.toLowerCase().split("\r\n");
  assert.equal(line, `patch /gateway${target} http/1.1`.toLowerCase());
  const expected = { ...kept, "accept-encoding": "identity", host: new URL(upstream.origin).host };
  for (const [name, value] of Object.entries(expected)) {
    assert.ok(lines.includes(`${name}: ${value.toLowerCase()}`), head);
  }
  assert.equal(new TextDecoder().decode(sent), body);
  const { exchanges: [exchange] } = await recorder.fixture();
  assert.deepEqual([exchange?.request.method, exchange?.request.path], ["PATCH", `/gateway${target}`]);
  // The readable form has lost a zero and two blanks: the raw one is there.
  assert.deepEqual([exchange?.sent, exchange?.request.headers.authorization], [body, undefined]);
});

/** Answers of any kind: the method, the head and the body. */
const ANSWERS: readonly (readonly [method: string, head: string, body?: string])[] = [
  ["HEAD", "200 OK\r\ncontent-length: 1234"],
  ["DELETE", "204 No Content"],
  ["POST", "429 Too Many Requests\r\nretry-after: 7\r\ncontent-type: application/json", '{"error":{}}'],
  ["POST", "307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/elsewhere"],
];

for (const [method, head, body = ""] of ANSWERS) {
  recording(
    `an answer like any other is recorded: ${method} ${head.split("\r\n", 1)}`,
    answering(body === "" ? head : `${head}\r\ncontent-length: ${body.length}`, body),
    async ({ recorder, upstream }) => {
      const init = { method, ...method === "POST" ? { body: "{}" } : {} };
      const response = await recorder.fetch("/no/such/path", init);
      assert.deepEqual([response.status, await response.text()], [Number(head.slice(0, 3)), body]);
      for (const [, name = "", value] of head.matchAll(/\r\n([\w-]+): (.*)/g)) {
        assert.equal(response.headers.get(name), value);
      }
      const { exchanges: [{ request, response: kept, text } = assert.fail()] } = await recorder.fixture();
      assert.equal(upstream.requests.length, 1);
      assert.deepEqual([request.method, kept.status, text], [method, response.status, body]);
    },
  );
}

withHome("neither a target of its own nor a header of a request changes where it goes", async (home) => {
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-length: 2", "ok"));
  await using elsewhere = new RawUpstream(answering("200 OK\r\ncontent-length: 4", "else"));
  await using recorder = await home.record(`${upstream.origin}/only`);
  const { host } = new URL(recorder.origin);
  const asked = new URL(elsewhere.origin).host;
  const targets = [
    [`GET ${elsewhere.origin}/v1/models`, `Host: ${host}`],
    ["GET /v1/models", `Host: ${asked}`],
    ["GET /../../secret", `Host: ${host}`],
    [`GET //${asked}/v1/models`, `Host: ${host}`],
    ["GET /v1/models", `Host: ${host}\r\nX-Forwarded-Host: ${asked}\r\nForwarded: host=${asked}`],
  ];
  for (const [line, headers] of targets) {
    await rawRequest(recorder.origin, `${line} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
  }
  assert.equal(elsewhere.requests.length, 0);
  for (const { head } of upstream.requests) assert.match(head, /^GET \/only\//);
  assert.equal(upstream.requests.length, 2);
});

/** An upstream that breaks off, waits for its client to leave, or ends in order, after this text. */
const endsAfter = (text: string, how: "break" | "wait" | "end") =>
  new RawUpstream(async (connection) => {
    await write(connection, STREAM_HEAD);
    await writeChunk(connection, text);
    if (how === "end") await write(connection, "0\r\n\r\n");
    if (how === "wait") assert.equal(await connection.read(new Uint8Array(1)).catch(() => null), null);
  });

/** Ends of a stream, whether the client leaves, and what becomes of the exchange without and with `--keep-cut`. */
const ENDS: Readonly<
  Record<string, readonly [string, "break" | "wait" | "end", string | null, string | undefined]>
> = {
  "a client that leaves in the middle": [DELTA, "wait", "closed", "closed"],
  "a client that leaves after the terminal event": [COMPLETED, "wait", null, undefined],
  "an upstream that breaks off": [DELTA, "break", "cut", "cut"],
  "an upstream that ends in order without the terminal event": [DELTA, "end", "no_terminal_event", undefined],
};

for (const [name, [text, how, reason, ended]] of Object.entries(ENDS)) {
  withHome(
    `the end of a stream: ${name}; it is ${reason === null ? "whole" : "kept only with --keep-cut"}`,
    async (home) => {
      for (const keeps of [false, true]) {
        await using upstream = endsAfter(text, how);
        const flags = keeps ? ["--keep-cut"] : [];
        await using recorder = await home.record(upstream.origin, { out: `${keeps}`, flags });
        const client = new AbortController();
        const response = await recorder.post("/v1/responses", ASKED, { signal: client.signal });
        const reader = response.body?.getReader();
        assert.equal(new TextDecoder().decode((await reader?.read())?.value), text);
        if (how === "wait") client.abort();
        await (how === "end" ? reader?.read() : assert.rejects(async () => await reader?.read()));
        await recorder.reported(1);
        assert.equal(recorder.exchanges[0].reason, keeps ? null : reason);
        await recorder.end();
        const kept = reason === null || keeps ? exchangesOf(recorder.out) : [];
        const terminal = reason === null ? undefined : false;
        for (const { response, text: stored } of kept) {
          assert.deepEqual([response.ended, response.terminal, stored], [ended, terminal, text]);
        }
      }
    },
  );
}

withHome("a client that leaves before the answer ends the request to the upstream", async (home) => {
  const [gone, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using upstream = new RawUpstream(async (connection) => {
    asked.resolve();
    assert.equal(await connection.read(new Uint8Array(1)).catch(() => null), null);
    gone.resolve();
  });
  await using recorder = await home.record(upstream.origin);
  const client = new AbortController();
  const answer = recorder.post("/v1/responses", {}, { signal: client.signal });
  await asked.promise;
  client.abort();
  await assert.rejects(answer);
  await gone.promise;
  await recorder.reported(1);
  assert.equal(recorder.exchanges[0].reason, "closed");
});

withHome(
  "an upstream that cannot be reached is a 502 that names no query, and nothing is recorded",
  async (home) => {
    await using recorder = await home.record("http://127.0.0.1:1");
    const { status, text } = await recorder.ask("/v1/responses?key=canary-in-the-query", {});
    assert.equal(status, 502);
    assert.match(text, /Cannot reach 127\.0\.0\.1:1/);
    await recorder.reported(1);
    assert.equal(recorder.exchanges[0].reason, "no_answer");
    assert.equal((await recorder.end()).published, 0);
    assert.doesNotMatch(`${text}${JSON.stringify(recorder.events)}`, /canary/);
    assert.throws(() => Deno.statSync(recorder.out), Deno.errors.NotFound);
  },
);

recording(
  "exchanges get their numbers in the order of the requests, and the end drops what still runs",
  async (connection, { head }) => {
    await write(connection, STREAM_HEAD);
    await writeChunk(connection, head.includes("/slow") ? DELTA : COMPLETED);
    if (head.includes("/slow")) await connection.read(new Uint8Array(1)).catch(() => null);
    else await write(connection, "0\r\n\r\n");
  },
  async ({ recorder }) => {
    const slow = await recorder.post("/slow/v1/responses", {});
    const reading = slow.text().then(() => "ended", () => "broken");
    for (const path of ["/a/v1/responses", "/b/v1/responses"]) await recorder.ask(path, { model: "m" });
    assert.deepEqual(recorder.exchanges, [], "the outcome of the first is unknown");
    const { published, dropped } = await recorder.end();
    assert.deepEqual([await reading, published, dropped], ["broken", 2, 1]);
    const told = recorder.exchanges.map(({ request, number, reason }) => [request, number, reason]);
    assert.deepEqual(told, [[1, null, "stopped"], [2, 1, null], [3, 2, null]]);
    const paths = exchangesOf(recorder.out).map(({ request }) => request.path);
    assert.deepEqual(paths, ["/a/v1/responses", "/b/v1/responses"]);
  },
  { register: test.long },
);

/** Bodies of requests, and whether they are kept in a file of their own: what JSON does not restore, or cannot read. */
const BODIES: readonly (readonly [string, boolean])[] = [
  ['{"a":1}', false],
  ["{", true],
  ['{"a":1.0}', true],
  [`${"[".repeat(3000)}${"]".repeat(3000)}`, true],
  ['{"a":"\\ud800"}', false],
  ['{"b":1,"10":2}', true],
  [`{"image":"${"iVBORw0K".repeat(1_200_000)}"}`, false],
  // 500 levels of indentation for each number.
  [`${"[".repeat(500)}${"1,".repeat(270_000)}1${"]".repeat(500)}`, true],
];

recording(
  "a body that its readable form would not restore is kept unchanged, and so is one that is too long to read",
  answering(JSON_HEAD, "{}"),
  async ({ recorder }) => {
    for (const [body] of BODIES) {
      await (await recorder.fetch("/v1/responses", { method: "POST", body })).text();
    }
    const { exchanges } = await recorder.fixture();
    for (const [index, [body, isRaw]] of BODIES.entries()) {
      const { sent, folder } = exchanges[index] ?? assert.fail();
      assert.ok(sent === body, body.slice(0, 20));
      const names = [...Deno.readDirSync(`${recorder.out}/${folder}`)].map(({ name }) => name);
      assert.equal(names.includes("request.body"), isRaw, body.slice(0, 20));
    }
  },
  { register: test.long },
);

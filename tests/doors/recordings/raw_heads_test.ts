/** Requests as bytes: which of them `serve` plays, which it turns away, and what a refused one leaves. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import zlib from "node:zlib";
import fc from "fast-check";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { askRaw, converse, rawBytes } from "./raw_http.ts";
import { exchangeOf, sent, Served } from "./served.ts";
import { ask } from "./shapes.ts";

/** A request as bytes; `\n` is CRLF, `PORT` the port. */
interface RawRow {
  readonly request: string;
  readonly status: number;
  /** Type or code of the event. @default {played} */
  readonly event?: string | null;
}

const HOST = "Host: 127.0.0.1:PORT";
const get = (lines: string, target = "/v1/models") => `GET ${target} HTTP/1.1\n${lines}\n\n`;
const post = (lines: string, body = "") => `POST /v1/models HTTP/1.1\n${HOST}\n${lines}\n\n${body}`;
const played = (request: string): RawRow => ({ request, status: 200 });
const refused = (status: number, event: string, request: string): RawRow => ({ request, status, event });
const wrongHost = (host: string) => refused(421, "host_refused", get(`Host: ${host}`));
const page = (lines: string) => refused(403, "origin_refused", get(`${HOST}\n${lines}`));
const ambiguous = (lines: string, body = "1\n\n") => refused(400, "head_refused", post(lines, body));

const listed = (what: string, values: string, row: (value: string) => RawRow) =>
  Object.fromEntries(values.split(" | ").map((value) => [`${what} ${value}`, row(value)]));
const HOSTS = " | evil.example:PORT | 127.0.0.1 | 127.0.0.1:1 | " +
  "localhost.evil.example:PORT | 2130706433:PORT | evil@127.0.0.1:PORT | 127.0.0.1:PORT\nHost: evil.example";
const TARGETS = "http://evil.example/ | https://127.0.0.1:PORT/ | http://a@127.0.0.1:PORT/";
const broken = (body: string) => refused(400, "body_broken", post("Transfer-Encoding: chunked", body));

const MANY = Array.from({ length: 100 }, (_, index) => `x-${index}: 1`).join("\n");

/** By a sentence. */
const HEADS: Readonly<Record<string, RawRow>> = {
  "the address": played(get(HOST)),
  "the name in capitals": played(get("Host: LocalHost:PORT")),
  "the address of IPv6": played(get("Host: [::1]:PORT")),
  "HTTP/1.0 with a host": played(`GET /v1/models HTTP/1.0\n${HOST}\n\n`),
  "the server's own origin as target": played(get(HOST, "http://127.0.0.1:PORT/v1/models")),
  "dot segments": played(get(HOST, "/v1/a/../%2e/models")),
  "another protocol to upgrade to": played(get(`${HOST}\nConnection: close, Upgrade\nUpgrade: h2c`)),
  "no host": refused(421, "host_refused", "GET / HTTP/1.1\n\n"),
  ...listed("the host", HOSTS, wrongHost),
  "another site's page": page("Origin: https://evil.example"),
  "a page of this very origin": page("Origin: http://127.0.0.1:PORT"),
  "an image of a page": page("Sec-Fetch-Site: cross-site"),
  "a preflight": refused(403, "origin_refused", `OPTIONS / HTTP/1.1\n${HOST}\nOrigin: http://localhost\n\n`),
  ...listed("the target", TARGETS, (target) => refused(421, "target_refused", get(HOST, target))),
  "our origin as target, another host": {
    ...wrongHost("evil.example"),
    request: get("Host: evil.example", "http://127.0.0.1:PORT/"),
  },
  "a tunnel": refused(405, "method_refused", `CONNECT 127.0.0.1:PORT HTTP/1.1\n${HOST}\n\n`),
  "bytes that are no path": refused(400, "head_refused", get(HOST, "/\u00e9")),
  "two lengths": ambiguous("Content-Length: 1\nContent-Length: 2"),
  "a length and chunks": ambiguous("Content-Length: 1\nTransfer-Encoding: chunked"),
  "another transfer encoding": ambiguous("Transfer-Encoding: gzip, chunked"),
  "a space before a colon": ambiguous("X : 1"),
  "a bare CR": ambiguous("X: a\rb"),
  "a folded line": ambiguous(" X: folded"),
  "a chunk without a size": broken("x\n\n"),
  "a negative chunk": broken("-1\n\n"),
  "a chunk longer than its size": broken("1\nabc\n0\n\n"),
  "HTTP/2": refused(400, "head_refused", "PRI * HTTP/2.0\n\nSM\n\n"),
  "more than 128 KiB": refused(431, "headers_too_large", `GET / HTTP/1.1\nX: ${"x".repeat(128 * 1024)}`),
  "more than 100 headers": refused(431, "headers_too_large", get(`${HOST}\n${MANY}`)),
};

const GET = { method: "GET", path: "/v1/models" };
const MODELS = sent("", { ...GET, answer: { data: [] } });
const codeOf = ([event]: readonly { readonly type: string; readonly code?: string }[]) =>
  event?.code ?? event?.type;

withHome("only requests that name this server and come from no page are answered", async (home) => {
  home.fixture("a", [exchangeOf(MODELS)]);
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
  const found: unknown[] = [];
  for (const [sentence, { request }] of Object.entries(HEADS)) {
    const { text, statuses, closed } = await askRaw(server.port, request);
    assert.doesNotMatch(text, /access-control/i, sentence);
    if ((statuses[0] ?? 0) >= 400) assert.match(text, /x-should-retry: false/, sentence);
    found.push([sentence, statuses, closed, codeOf(server.news())]);
  }
  const expected = Object.entries(HEADS).map((
    [sentence, { status, event = "played" }],
  ) => [sentence, [status], true, event]);
  assert.deepEqual(found, expected);
}, test.long);

/** Requests, each with its method and body; every path has an exchange that answers with its name. */
const REQUESTS: readonly (readonly [path: string, request: string, body?: string])[] = [
  ["/plain", `POST /plain HTTP/1.1\n${HOST}\nContent-Length: 7\n\nGET / x`, "GET / x"],
  ["/none", "GET /none HTTP/1.1\nHost: LOCALHOST:PORT\nX: \t one \nx: two\n\n"],
  [
    "/long",
    `PUT /long HTTP/1.1\n${HOST}\nContent-Length: 40000\n\n${"z".repeat(40_000)}`,
    "z".repeat(40_000),
  ],
  ["/there", `DELETE http://127.0.0.1:PORT/there HTTP/1.1\n${HOST}\n\n`],
  [
    "/chunks",
    `POST /chunks HTTP/1.1\n${HOST}\nTransfer-Encoding: Chunked\n\n3;x=y\nabc\nA\n0123456789\n0\nX: 1\n\n`,
    "abc0123456789",
  ],
  ["/refused", `POST /refused HTTP/1.1\nHost: evil.example\nContent-Length: 3\n\nabc`],
  ["/waits", `POST /waits HTTP/1.1\n${HOST}\nContent-Length: 1\nExpect: 100-continue\n\n2`, "2"],
];
const LAST = `POST /last HTTP/1.1\n${HOST}\nConnection: close\nContent-Length: 1\n\n!`;

withHome("requests on one connection are answered in order, however they are cut", async (home) => {
  const exchanges = REQUESTS.map(([path, request, body = ""]) =>
    exchangeOf(sent(body, { method: request.split(" ", 1)[0], path, answer: { path } }))
  );
  home.fixture("a", [...exchanges, exchangeOf(sent("!", { path: "/last", answer: { path: "/last" } }))]);
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 5 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
      async (asked, cuts) => {
        const bytes = rawBytes(server.port, [...asked.map(([, request]) => request), LAST].join(""));
        const places = cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b);
        const pieces = [...places, bytes.length].map((end, at) => bytes.subarray(places[at - 1] ?? 0, end));
        const { text } = await converse(server.port, pieces);
        const found = [...text.matchAll(/\{"path":"([^"]+)"\}|host_refused/g)];
        assert.deepEqual(found.map(([, path = "/refused"]) => path), [
          ...asked.map(([path]) => path),
          "/last",
        ]);
      },
    ),
    { numRuns: 40, seed: 20261122 },
  );
}, test.long);

withHome(
  "answers without a body have none, HTTP/1.0 gets no chunks, and no answer is compressed",
  async (home) => {
    const text = "data: x\n\n";
    const none = { response: { status: 204, headers: {} }, answer: new Uint8Array() };
    const exchange = (path: string, more: Json, method = "GET") =>
      exchangeOf(sent("", { method, path, answer: text, ...more }));
    home.fixture("a", [
      ...[exchange("/204", none), exchange("/head", {}, "HEAD"), exchange("/old", {})],
      exchange("/205", { response: { status: 205, headers: { "content-type": "text/event-stream" } } }),
      exchange("/plain", { answer: { x: "y".repeat(5000) } }),
    ]);
    await using server = await Served.start(home, ["a"], { cwd: home.directory });
    const bodies: string[] = [];
    for (
      const line of [
        ...["GET /204 HTTP/1.1", "GET /205 HTTP/1.1"],
        ...["HEAD /head HTTP/1.1", "GET /old HTTP/1.0", "GET /plain HTTP/1.1"],
      ]
    ) {
      const request = `${line}\n${HOST}\nAccept-Encoding: gzip, br, zstd\n\n`;
      const { text, closed } = await askRaw(server.port, request);
      assert.ok(closed && !/content-encoding/i.test(text), line);
      bodies.push(text.slice(text.indexOf("\r\n\r\n") + 4));
    }
    assert.deepEqual(bodies, ["", "", "", text, JSON.stringify({ x: "y".repeat(5000) })]);
  },
  test.long,
);

const CODINGS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  "GZIP": zlib.gzipSync,
  "deflate": zlib.deflateSync,
  "br": zlib.brotliCompressSync,
  "zstd": zlib.zstdCompressSync,
  "gzip, zstd": (bytes) => zlib.zstdCompressSync(zlib.gzipSync(bytes)),
  "identity": (bytes) => bytes,
};

withHome(
  "encoded bodies are decoded; bombs, unknown encodings and bodies over the cap are turned away",
  async (home) => {
    const body = ask("Hi".repeat(500));
    home.fixture("a", [exchangeOf(body)]);
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const coded = async (coding: string, content: Uint8Array) => {
      const answer = await server.ask(sent(content, { headers: { "content-encoding": coding } }));
      return [answer.status, codeOf(answer.events)];
    };
    for (const [coding, encode] of Object.entries(CODINGS)) {
      assert.deepEqual(await coded(coding, encode(bytes)), [200, "played"], coding);
    }
    for (const coding of ["compress", "gzip, compress", Array(6).fill("gzip").join(), "constructor"]) {
      assert.deepEqual((await coded(coding, bytes))[0], 415, coding);
    }
    assert.deepEqual((await coded("gzip", bytes))[0], 400);
    assert.deepEqual((await coded("gzip", zlib.gzipSync(bytes).subarray(0, 15)))[0], 400);
    const bomb = zlib.gzipSync(new Uint8Array(129 * 1024 * 1024), { level: 1 });
    assert.deepEqual((await coded("gzip", bomb))[0], 413);
    const stated = `POST /v1/responses HTTP/1.1\n${HOST}\nContent-Length: ${129 * 1024 * 1024}\n\n`;
    assert.deepEqual((await askRaw(server.port, stated)).statuses, [413]);
    assert.equal((await server.end()).code, 7);
  },
  test.long,
);

withHome(
  "a token must be the key, in any of the three places where clients put it, and opens other addresses",
  async (home) => {
    home.fixture("a", [exchangeOf(MODELS)]);
    const flags = ["--repeat", "--token", "open-sesame", "--host", "0.0.0.0"];
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
    const statusOf = async (line: string, target = "/v1/models") =>
      (await askRaw(server.port, `GET ${target} HTTP/1.1\nHost: mock:8080\n${line}\n\n`)).statuses[0];
    const right = ["Authorization: bearer open-sesame", "x-api-key: open-sesame", "api-key: open-sesame"];
    for (const line of right) assert.equal(await statusOf(line), 200, line);
    const wrong = ["X: 1", "Authorization: open-sesame", "Authorization: Bearer ", "x-api-key: Open-Sesame"];
    for (const line of wrong) assert.equal(await statusOf(line), 401, line);
    assert.equal(await statusOf("x-api-key: open-sesame", "http://mock:8080/v1/models"), 200);
    assert.equal(await statusOf("x-api-key: open-sesame", "http://evil.example/v1/models"), 421);
    for (const given of [["--host", "0.0.0.0"], ["--host", "::", "--token", ""]]) {
      const { code } = await home.call(["serve", "a", ...given], { cwd: home.directory });
      assert.equal(code, 2, given.join(" "));
    }
  },
  test.long,
);

withHome("a head whose lines end without CR is refused, and its connection closed", async (home) => {
  home.fixture("a", [exchangeOf(MODELS)]);
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
  for (const rest of ["X: 1\nX: 2\n\n", "\n", "\nGET /b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "X: 1\n\r\n"]) {
    const head = `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${rest}`;
    const { statuses, closed } = await converse(server.port, [new TextEncoder().encode(head)]);
    assert.deepEqual([statuses, closed], [[400], true], JSON.stringify(rest));
  }
  assert.deepEqual(server.news().map(({ code }) => code), Array(4).fill("head_refused"));
}, test.long);

withHome("a head that does not end in 30 seconds gets 408, and its connection is closed", async (home) => {
  home.fixture("a", [exchangeOf(MODELS)]);
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
  const began = performance.now();
  const { statuses, closed } = await converse(server.port, [new TextEncoder().encode("GET /v1/models HT")]);
  assert.deepEqual([statuses, closed, codeOf(server.news())], [[408], true, "head_too_slow"]);
  assert.ok(performance.now() - began >= 29_000);
}, test.long);

const UPGRADE = "Upgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
/** Heads of upgrades, with the status. */
const UPGRADES: Readonly<Record<string, readonly [head: string, status: number]>> = {
  "a plain one": [`GET /v1/responses HTTP/1.1\n${HOST}\nConnection: keep-alive, UPGRADE`, 101],
  "another host": ["GET /v1/responses HTTP/1.1\nHost: evil.example:PORT\nConnection: Upgrade", 421],
  "another target": [`GET http://evil.example\\@127.0.0.1:PORT/ HTTP/1.1\n${HOST}\nConnection: Upgrade`, 421],
  "a page": [`GET /v1/responses HTTP/1.1\n${HOST}\nConnection: Upgrade\nOrigin: http://127.0.0.1:PORT`, 403],
  "another path": [`GET /v1/models HTTP/1.1\n${HOST}\nConnection: Upgrade`, 426],
  "HTTP/1.0": [`GET /v1/responses HTTP/1.0\n${HOST}\nConnection: Upgrade`, 400],
};

withHome("an upgrade to a WebSocket passes the same checks, before 101", async (home) => {
  home.fixture("a", [exchangeOf(sent({ ...ask("Hi"), stream: true }, { answer: "data: {}\n\n" }))]);
  await using server = await Served.start(home, ["a"], { cwd: home.directory });
  for (const [what, [head, status]] of Object.entries(UPGRADES)) {
    const bytes = rawBytes(server.port, `${head}\n${UPGRADE}\n\n`);
    const { statuses, text } = await converse(server.port, [bytes], (text) => text.includes("\r\n\r\n"));
    assert.deepEqual(statuses, [status], what);
    if (status === 101) assert.match(text, /\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
  }
}, test.long);

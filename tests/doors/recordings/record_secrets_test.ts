/** Secrets in the traffic of `record`: none reaches the disk, and everything else stays. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { byteLength, WRITTEN } from "../../support/encodings.ts";
import {
  answering,
  COMPLETED,
  RawUpstream,
  sse,
  STREAM_HEAD,
  streaming,
  write,
} from "../../support/raw_upstream.ts";
import { textsBelow } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { HEADERS, OTHERS, PLAIN, SHAPES, VARIABLES, WORD, WORDS } from "./secret_rows.ts";
import { recording, type RecordingHome, withHome } from "./home.ts";
import type { Recorder } from "./recorder.ts";
import { exchangesOf } from "./recording_files.ts";

const KEY = "canary/key+4f1d0c7ea9?of=the&environment";
const SENT = "canary-3b9a61-sent-as-a-key";
const env = { MY_API_KEY: KEY };
const headers = { authorization: `Bearer ${SENT}`, "x-api-key": SENT, cookie: `session=${SENT}` };
const ECHO = answering("200 OK\r\ncontent-type: application/json", "{}");

/** Forms of a secret in which no neighbour has changed a character. */
const formsOf = (secret: string) => [
  ...Object.values(WRITTEN).map((write) => write(secret)),
  ...[0, 1, 2].map((shift) => Buffer.from(`${"x".repeat(shift)}${secret}`).toString("base64").slice(4, -4)),
];

/** Requires no file and no report to hold a secret in any form. */
function requireClean(recorder: Recorder, reported: unknown): void {
  const reports = JSON.stringify([reported, recorder.events]);
  for (const form of [KEY, SENT].flatMap(formsOf)) {
    for (const [path, text] of [...textsBelow(recorder.out), ["the reports", reports] as const]) {
      assert.ok(!text.includes(form) && !path.includes(form), `${path} holds ${form}`);
    }
  }
}

withHome("no secret reaches the disk, wherever in an exchange it is and however it is cut", async (home) => {
  const echoed = [KEY, SENT].flatMap((secret) => Object.values(WRITTEN).map((write) => write(secret)))
    .map((delta) => `data: ${delta}\n\n`).join("");
  // So long that borders of the blocks that are written lie inside of secrets.
  const long = `${WRITTEN["in JSON, as codes"]?.(KEY)} `.repeat(900);
  const bytes = new TextEncoder().encode(`${echoed}data: ${long}\n\n${echoed}${COMPLETED}`);
  const head = STREAM_HEAD.replace("transfer-encoding: chunked", `content-length: ${bytes.length}`);
  await using upstream = new RawUpstream(async (connection) => {
    await write(connection, head);
    for (let at = 0; at < bytes.length; at += 997) await write(connection, bytes.subarray(at, at + 997));
  });
  await using recorder = await home.record(upstream.origin, { env });
  const response = await recorder.post(
    `/v1/responses?key=${encodeURIComponent(KEY)}&token=${SENT}&q=${SENT}`,
    { model: "gpt-5.6", input: [KEY, SENT, btoa(KEY), encodeURIComponent(KEY)], metadata: { [SENT]: 1 } },
    { headers },
  );
  assert.deepEqual(await response.bytes(), bytes, "the client gets what the server said");
  const end = await recorder.end(0);
  const [exchange] = exchangesOf(recorder.out);
  assert.equal(exchange?.body.length, bytes.length);
  const { known } = end.redactions;
  assert.ok(known >= 4 * Object.keys(WRITTEN).length, `${known}`);
  requireClean(recorder, end);
}, test.long);

withHome(
  "no secret reaches the disk in headers, in errors and in bodies that are compressed",
  async (home) => {
    const body = gzipSync(JSON.stringify({ error: { message: `Incorrect API key: ${SENT}`, param: KEY } }));
    const head =
      `401 Unauthorized\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}` +
      `\r\nset-cookie: session=${SENT}\r\nx-request-id: ${SENT}\r\nopenai-organization: org-1`;
    await using upstream = new RawUpstream(answering(head, body));
    await using recorder = await home.record(upstream.origin, { env });
    const response = await recorder.fetch("/v1/responses", {
      method: "POST",
      headers: { ...headers, "content-encoding": "gzip", "content-type": "application/json" },
      body: new Uint8Array(gzipSync(JSON.stringify({ model: "m", input: KEY }))),
    });
    assert.match(await response.text(), new RegExp(SENT));
    const end = await recorder.end(0);
    const kept = exchangesOf(recorder.out)[0]?.response.headers;
    assert.match(kept["openai-organization"], /^account-[0-9a-f]{16}$/);
    assert.equal(kept["set-cookie"], undefined);
    requireClean(recorder, end);
  },
);

withHome("a key that comes with a later request is found in an earlier one that still runs", async (home) => {
  const go = Promise.withResolvers<void>();
  await using upstream = new RawUpstream(async (connection, request) => {
    if (request.head.includes("/slow")) await go.promise;
    await streaming(sse({ type: "response.output_text.delta", delta: SENT }), COMPLETED)(connection, request);
  });
  await using recorder = await home.record(upstream.origin);
  const slow = recorder.ask("/slow/v1/responses", { model: "m", input: `It was ${SENT}` });
  while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await recorder.ask("/v1/responses", { model: "m" }, { headers });
  go.resolve();
  await slow;
  const end = await recorder.end(0);
  assert.equal(end.published, 2);
  requireClean(recorder, end);
});

withHome(
  "a cookie of an answer is found in the request that quoted it before, and a dropped one counts nothing",
  async (home) => {
    await using upstream = new RawUpstream(async (connection, request) => {
      const isFirst = upstream.requests.length === 1;
      const head = isFirst ? `200 OK\r\nset-cookie: session=${SENT}` : "500 No";
      await answering(`${head}\r\ncontent-type: application/json`, "{}")(connection, request);
    });
    await using recorder = await home.record(upstream.origin, { flags: ["--missing"] });
    for (const input of [`It was ${SENT}`, `sk-proj-${"a1b2c3d4".repeat(6)}`]) {
      await recorder.ask("/v1/responses", { model: "m", input });
    }
    const end = await recorder.end(7);
    assert.deepEqual([end.published, end.redactions], [1, { known: 1 }]);
    requireClean(recorder, end);
  },
);

/** Size of the pieces in which a written file is searched for what the scrubber missed. */
const PIECE = 64 * 1024;
/** Base64 with line ends, as in a mail: only the second search, which decodes it, finds it. */
const WRAPPED = btoa(KEY).replace(/.{8}/g, "$&\n");

withHome(
  "what only the second search finds is not kept, wherever the pieces of a file are cut",
  async (home) => {
    const starts = [
      0,
      PIECE - WRAPPED.length,
      PIECE - 1,
      ...[2, 4, 8].map((part) => PIECE - Math.floor(WRAPPED.length / part)),
    ];
    for (const [index, start] of starts.entries()) {
      const body = `${"-".repeat(start)}${WRAPPED}${"-".repeat(100)}`;
      await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: text/plain", body));
      await using recorder = await home.record(upstream.origin, { env, out: `${index}` });
      assert.equal((await recorder.ask("/v1/files", {})).text, body);
      const { published } = await recorder.end(7);
      const [{ reason, secrets } = assert.fail()] = recorder.exchanges;
      assert.deepEqual([published, reason, secrets], [0, "secret_left", ["MY_API_KEY"]], `${start}`);
    }
  },
  test.long,
);

const ALTERED = "canary-4f1d0c7ea9-sent-by-a-client";
/** Path, body and headers of a request, and whether recording alters it. */
const REQUESTS: readonly (readonly [string, string, Readonly<Record<string, string>>, boolean])[] = [
  ["/v1/responses", '{"input":"hi"}', {}, false],
  ["/v1/responses", '{"input":"hi"}', { authorization: `Bearer ${ALTERED}`, "openai-beta": ALTERED }, false],
  ["/v1/responses", `{"input":"${ALTERED}"}`, {}, true],
  ["/v1/responses", `${" ".repeat(300_000)}${ALTERED}`, {}, true],
  [`/v1/${ALTERED}/responses`, "{}", {}, true],
  // Replaced already when it was sent.
  ["/v1/responses?key=RE", '{"input":"Authorization: Bearer REDACTEDRED"}', {}, false],
];

recording(
  "the summary counts the requests that were changed when they were recorded, apart from headers and answers",
  answering("200 OK\r\ncontent-type: application/json", JSON.stringify({ text: ALTERED })),
  async ({ recorder }) => {
    for (const [path, body, headers] of REQUESTS) {
      await (await recorder.fetch(path, { method: "POST", body, headers })).text();
    }
    const { altered } = await recorder.end(0);
    assert.equal(altered, REQUESTS.filter(([, , , isAltered]) => isAltered).length);
    for (const [index, { request, sent }] of exchangesOf(recorder.out).entries()) {
      const [path, body, , isAltered] = REQUESTS[index] ?? assert.fail();
      assert.equal(request.path === path && sent === body, !isAltered, path);
    }
  },
  { env: { A_SECRET: ALTERED }, register: test.long },
);

const READ =
  "content-type retry-after retry-after-ms x-should-retry x-request-id request-id apim-request-id " +
  "openai-organization openai-project openai-version openai-processing-ms anthropic-workspace-id " +
  "x-ratelimit-limit-requests x-ratelimit-remaining-tokens anthropic-ratelimit-tokens-reset anthropic-organization-id";
const UNREAD = "set-cookie authorization openai-session-token server x-any";
const lines = `${READ} ${UNREAD}`.split(" ").map((name) => `\r\n${name.toUpperCase()}: v`).join("");

recording(
  "of headers those are kept that the API or its client reads, and none that carries a key",
  answering(`200 OK${lines}\r\ncontent-length: 2`, "{}"),
  async ({ recorder }) => {
    const plain = {
      "content-type": "application/json",
      accept: "text/event-stream",
      "anthropic-version": "2026-10-21",
    };
    const keys = ["authorization", "x-api-key", "api-key", "cookie", "proxy-authorization", "x-any"];
    const carrying = Object.fromEntries(keys.map((name) => [name, "value-of-1234"]));
    const query = `?key=ab&api-version=1&access_token=a%20b&sig=&a=${SENT}&code`;
    const path = `/v1/x/${encodeURIComponent(KEY)}${query}`;
    await recorder.ask(path, {}, { headers: { ...plain, "openai-beta": `x=${KEY}`, ...carrying } });
    const { exchanges: [exchange] } = await recorder.fixture();
    const { "openai-beta": beta, ...kept } = exchange?.request.headers;
    assert.deepEqual(kept, plain);
    assert.match(beta, /^x=[REDACT]{40}$/);
    assert.deepEqual(Object.keys(exchange?.response.headers).sort(), READ.split(" ").sort());
    assert.equal(exchange?.request.path.length, path.length);
    const masked = `^/v1/x/[REDACT]+\\?key=RE&api-version=1&access_token=REDAC&sig=&a=${SENT}&code$`;
    assert.match(exchange?.request.path, new RegExp(masked));
  },
  { env },
);

/** Records texts as bodies of requests; returns what is kept of each. */
async function keptOf(
  home: RecordingHome,
  texts: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  await using upstream = new RawUpstream(ECHO);
  await using recorder = await home.record(upstream.origin, { env });
  for (const body of texts) await (await recorder.fetch("/v1/files", { method: "POST", body })).text();
  return (await recorder.fixture()).exchanges.map(({ sent }) => sent ?? "");
}

withHome(
  "unknown secrets are replaced by their shape, and text that is only about secrets stays",
  async (home) => {
    const kept = await keptOf(home, [...SHAPES.map(([before]) => before), ...PLAIN]);
    assert.deepEqual(kept, [...SHAPES.map(([, after]) => after), ...PLAIN]);
  },
  test.long,
);

withHome(
  "an ordinary word is replaced in URLs and in members that are named like keys, and nowhere else",
  async (home) => {
    const texts = [...WORDS.secret, ...WORDS.plain];
    const kept = await keptOf(home, texts, { POSTGRES_PASSWORD: WORD });
    for (const [index, text] of texts.entries()) {
      const after = kept[index] ?? "";
      if (index >= WORDS.secret.length) assert.equal(after, text);
      else {
        const isMasked = /EDACTED/.test(after) && !/postgres"|:postgres@|=postgres|%70ostgres/.test(after);
        assert.ok(isMasked && byteLength(after) === byteLength(text), after);
      }
    }
  },
  test.long,
);

recording("headers that carry keys give them away, and others nothing", ECHO, async ({ recorder }) => {
  const valueOf = (index: number) => `abcd${index}efgh1234`;
  const rows = [...HEADERS, ...OTHERS.map((name) => [name, "VALUE"] as const)];
  for (const [index, [name, form]] of rows.entries()) {
    const value = valueOf(index);
    const sent = form.startsWith("Basic") ? `Basic ${btoa(`me:${value}`)}` : form.replace("VALUE", value);
    await recorder.ask("/v1/files", `It is ${value}.`, { headers: { [name]: sent } });
  }
  const { exchanges } = await recorder.fixture();
  const kept = rows.filter((_, index) => exchanges[index]?.sent?.includes(valueOf(index)));
  assert.deepEqual(kept.map(([name]) => name), OTHERS);
}, { register: test.long });

withHome(
  "secrets of an environment are found by name and by value; those that are too short are named",
  async (home) => {
    await using upstream = new RawUpstream(ECHO);
    for (const [index, [name, value, ...parts]] of VARIABLES.entries()) {
      const isShort = parts[0] === null;
      const out = `${index}`;
      await using recorder = await home.record(upstream.origin, { out, env: { [name]: value } });
      // An ordinary word is a secret in a header only.
      const held = (parts.length === 0 || isShort ? [value.trim()] : parts as string[]).join(" ");
      const fits = /^[\x20-\x7e]+$/.test(held);
      await recorder.ask("/v1/files", held, fits ? { headers: { "openai-beta": held } } : {});
      const { notes } = await recorder.end(0);
      const [{ sent, request } = assert.fail()] = exchangesOf(recorder.out);
      const isReplaced = fits ? request.headers["openai-beta"] !== held : sent !== JSON.stringify(held);
      if (!isShort) assert.equal(isReplaced, parts.length > 0, `${name}=${value}: ${sent}`);
      const kept = fits ? request.headers["openai-beta"] : JSON.parse(sent ?? "");
      for (const part of isShort ? [] : parts) assert.ok(!kept.includes(part), `${name}=${value}: ${kept}`);
      assert.equal(notes.includes(`${name} is too short to look for`), isShort, `${name}=${value}: ${notes}`);
    }
  },
  test.long,
);

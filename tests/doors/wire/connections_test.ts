/** Runs whose connection is slow, broken, coded, not encrypted, or leads elsewhere. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Json } from "../../support/files.ts";
import { type Answer, answering, pause, RawUpstream, write } from "../../support/raw_upstream.ts";
import { events, said, Sandbox } from "../../support/reprise.ts";
import { test } from "../../support/test.ts";
import { RecordedRuns } from "./recorded_runs.ts";
import { PLAIN } from "./streams_answers.ts";

const KEY = "sk-canary";
const STREAM = PLAIN.responses;
const gzipped = (part: number): Answer => {
  const bytes = gzipSync(STREAM);
  const head = "200 OK\r\ncontent-encoding: gzip\r\ncontent-type: text/event-stream";
  return answering(head, bytes.subarray(0, bytes.length * part));
};

interface Row {
  /** @default {no server} */
  readonly answer?: Answer;
  readonly base?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Code of the error. @default {none} */
  readonly error?: string;
  readonly exit?: number;
  readonly says?: RegExp;
}

const FAILED = { error: "network_failed", exit: 10 } as const;
const NOWHERE = "https://no-such-host.invalid/v1";
const PROXY = "http://me:hunter2@127.0.0.1:9";
const through = (env: Readonly<Record<string, string>>, says: RegExp): Row => ({
  ...FAILED,
  base: NOWHERE,
  env,
  says,
});

const ROWS: Readonly<Record<string, Row>> = {
  "a stream that comes in gzip although it was not asked for": { answer: gzipped(1) },
  "gzip that breaks off": { answer: gzipped(0.8), error: "stream_cut", exit: 10 },
  "a coding that is unknown": {
    answer: answering("200 OK\r\ncontent-encoding: other\r\ncontent-type: text/event-stream", STREAM),
    error: "bad_stream",
    exit: 10,
    says: /in the encoding \\"other\\"/,
  },
  "a stream that pauses for less than the limit, again and again": {
    answer: async (connection, request) => {
      await answering("200 OK\r\ncontent-type: text/event-stream")(connection, request);
      for (const part of STREAM.match(/[^]{1,250}/g) ?? []) {
        await write(connection, part);
        await pause(150);
      }
    },
    env: { REPRISE_IDLE_TIMEOUT: "0.6" },
  },
  "a server that does not begin to answer": {
    answer: () => pause(500),
    env: { REPRISE_RESPONSE_TIMEOUT: "0.04" },
    ...FAILED,
    says: /no answer within 0\.04 s"/,
  },
  "a server that closes before it answers": {
    answer: () => Promise.resolve(),
    ...FAILED,
    says: /broke off before the answer"/,
  },
  "a server that speaks no HTTP": { answer: (connection) => write(connection, "SSH-2.0\r\n\r\n"), ...FAILED },
  "a proxy, which is named without its password": through(
    { HTTPS_PROXY: PROXY, HTTP_PROXY: "http://other.test" },
    /invalid \(through the proxy 127\.0\.0\.1:9 that HTTPS_PROXY names\): /,
  ),
  "a proxy for all, before the one of the scheme": through(
    { all_proxy: PROXY, HTTPS_PROXY: "http://other.test" },
    /127\.0\.0\.1:9 that all_proxy names/,
  ),
  "a proxy from which the host is exempt": through(
    { HTTPS_PROXY: PROXY, NO_PROXY: "x.test, INVALID" },
    /Cannot reach no-such-host\.invalid: /,
  ),
  "a proxy from which the whole domain is exempt": through(
    { ALL_PROXY: PROXY, no_proxy: ".invalid" },
    /Cannot reach no-such-host\.invalid: /,
  ),
  "a proxy from which hosts are exempt whose names only end alike": through(
    { ALL_PROXY: PROXY, NO_PROXY: "host.invalid, 10.0.0.0/8" },
    /127\.0\.0\.1:9 that ALL_PROXY names/,
  ),
  // Whether the network holds the address is not worked out: better no name than a wrong one.
  "a proxy from which networks are exempt": {
    ...through({ ALL_PROXY: PROXY, NO_PROXY: "10.0.0.0/8" }, /Cannot reach 192\.0\.2\.1:9: /),
    base: "https://192.0.2.1:9/v1",
  },
  "a key that no header can carry": {
    env: { OPENAI_API_KEY: `${KEY}\u4e00` },
    error: "missing_key",
    exit: 2,
    says: /OPENAI_API_KEY: it holds spaces or unprintable characters"/,
  },
};

for (const [name, { answer, base, env, error, exit = 0, says = /./ }] of Object.entries(ROWS)) {
  test.long(`a run meets ${name}`, async () => {
    await using upstream = new RawUpstream(answer ?? (() => Promise.resolve()));
    await using home = new Sandbox();
    const args = ["-m", "gpt-5.6", "--base-url", base ?? `${upstream.origin}/v1`, "Go"];
    const called = await home.call(["run", "--json", "--new", "-s", "s", ...args], {
      env: { OPENAI_API_KEY: KEY, ...env },
    });
    assert.equal(called.code, exit, said(called));
    const failure: Json = events(called).find(({ type }) => type === "error");
    assert.equal(failure?.code, error, said(called));
    assert.match(called.stdout, says);
    assert.ok(!/canary|hunter2/.test(said(called)), said(called));
    for (const { head } of upstream.requests) {
      assert.match(head, /^POST \/v1\/responses /);
      assert.match(head, /\r\naccept-encoding: identity\r\n/i);
    }
  });
}

test.long("a recorded silence as long as the limit is the cut that it was, and takes no time", async () => {
  await using home = new RecordedRuns();
  const called = await home.run([STREAM], { first: { fault: "stall after 2 events for 301000ms" } });
  assert.equal(called.code, 10, said(called));
  assert.match(called.stdout, /"stream_cut".*nothing came for 300 s"/);
});

/** Hosts of base URLs without encryption: a key leaves this machine in no plain text. */
const OWN = [
  ...["localhost", "127.0.0.1", "127.255.1.2", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]"],
];
const OTHERS = [
  ...["127.0.0.1.example.com", "localhost.example.com", "128.0.0.1", "126.255.255.255", "0.0.0.0"],
  ...["[::]", "[::2]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254"],
];

test.long("only localhost and the loopback addresses are this machine, however a URL spells them", async () => {
  await using home = new Sandbox();
  for (const host of [...OWN, ...OTHERS]) {
    const args = ["run", "--timeout", "0.05", "-m", "gpt-5.6", "--base-url", `http://${host}:1/v1`, "Hi"];
    const called = await home.call(args, { env: { OPENAI_API_KEY: "sk-1" } });
    assert.equal(called.code !== 2, OWN.includes(host), `${host}: ${said(called)}`);
    if (called.code === 2) assert.match(called.stderr, /unencrypted/, host);
  }
});

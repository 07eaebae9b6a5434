/** Answers that fail before their first event: which are tried again, after which wait, and how the run ends. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../../support/reprise.ts";
import { printed, writeFixture } from "../recordings/recording_files.ts";
import { answerText, responseStream } from "./streams_answers.ts";

/** An answer: status, body and headers. */
type Answer = readonly [status: number, body: Json, headers?: Readonly<Record<string, string>>];

interface Row {
  readonly answers: readonly Answer[];
  /** Lowest and highest wait before each further attempt, in milliseconds. */
  readonly waits?: readonly (readonly [number, number])[];
  /** Code of the error that ends the run. @default {null} */
  readonly error?: string | null;
  readonly says?: RegExp;
  readonly details?: Json;
}

const OK: Answer = [200, responseStream([answerText("Done.")])];
const rate = { error: { code: "rate_limit_exceeded", message: "Slow down" } };
const limited = (headers: Readonly<Record<string, string>> = {}): Answer => [429, rate, headers];
const quota = {
  error: { code: "insufficient_quota", type: "insufficient_quota", message: "Spent.", param: null },
};
const events = { "content-type": "text/event-stream" };
/** Half a second, less up to a quarter. */
const FIRST = [375, 500] as const;
const SECOND = [750, 1000] as const;
const waiting = (milliseconds: number, headers: Readonly<Record<string, string>>): Row => ({
  answers: [limited(headers), OK],
  waits: [[milliseconds, milliseconds]],
});
const again = (answer: Answer): Row => ({ answers: [answer, OK], waits: [FIRST] });
const never = (error: string, answer: Answer, says = /./): Row => ({ answers: [answer], error, says });

/** Exit codes by error. */
const EXITS: Readonly<Record<string, number>> = {
  ...{ unauthorized: 8, quota_exhausted: 9, context_overflow: 11, request_refused: 13 },
  ...{ provider_failed: 10, bad_stream: 10, redirected: 10 },
};

const ROWS: Readonly<Record<string, Row>> = {
  "the wait is the one in milliseconds": waiting(125, { "retry-after-ms": "125", "retry-after": "5" }),
  "a fraction of a second is waited": waiting(50, { "retry-after": "0.05" }),
  "the longest wait is a minute": waiting(60_000, { "retry-after": "60" }),
  "no wait at all": waiting(0, { "retry-after": "0" }),
  "a wait of more than 60 seconds is ignored": again(limited({ "retry-after": "61" })),
  "a date that is past is ignored": again(limited({ "retry-after": "Sat, 21 Nov 2020 00:00:00 GMT" })),
  "a wait that is no number is ignored": again(limited({ "retry-after": "soon" })),
  "without advice the wait doubles": { answers: [limited(), limited(), OK], waits: [FIRST, SECOND] },
  "500 is tried again": again([500, "<h1>oops</h1>"]),
  "409 is tried again": again([409, { error: { message: "Conflict" } }]),
  "an empty stream is tried again": again([200, "", events]),
  "a stream of comments is tried again": again([200, ": OPENROUTER PROCESSING\n\n", events]),
  "a refusal is tried again if the server says so": again([400, { error: { message: "x" } }, {
    "x-should-retry": "true",
  }]),
  "retries end, with the error of the last attempt": {
    answers: [500, 502, 503].map((status, at) => [status, { error: { message: `attempt ${at}` } }] as const),
    waits: [FIRST, SECOND],
    error: "provider_failed",
    says: /HTTP 503.*attempt 2$/,
  },
  "401 is not tried again": never("unauthorized", [401, {
    error: { code: "invalid_api_key", message: "No" },
  }]),
  "400 is not tried again": never("request_refused", [400, { error: { message: "Unknown parameter" } }]),
  "a context overflow is not tried again": never("context_overflow", [400, {
    error: { code: "context_length_exceeded", message: "x" },
  }]),
  "500 is not tried again if the server says so": never("provider_failed", [
    500,
    { error: { message: "x" } },
    { "x-should-retry": "false" },
  ]),
  "a spent quota is never tried again": {
    answers: [[429, quota, { "x-should-retry": "true", "retry-after": "1", "x-request-id": "req_7" }]],
    error: "quota_exhausted",
    says: /^The account's quota is used up \(HTTP 429, "insufficient_quota"\): Spent$/,
    details: {
      ...{
        status: 429,
        provider_code: "insufficient_quota",
        provider_type: "insufficient_quota",
        param: null,
      },
      ...{ retryable: false, request_id: "req_7" },
    },
  },
  ...Object.fromEntries(["request-id", "apim-request-id"].map((header) => [
    `an error names its request by ${header}`,
    {
      ...never("request_refused", [400, { error: { message: "No" } }, { [header]: "req_8" }]),
      details: { request_id: "req_8" },
    },
  ])),
  "a web page is no stream": never("bad_stream", [200, "<h1>Log in</h1>", { "content-type": "text/html" }]),
  "JSON with status 200 is no stream": never("bad_stream", [200, rate]),
  "bytes that are no UTF-8 are no stream": never("bad_stream", [200, "d\xff", events]),
  "a redirect is not followed, and only the origin of its target is named": never(
    "redirected",
    [308, "", { location: "https://elsewhere.example/v1?token=canary" }],
    /it redirects to https:\/\/elsewhere\.example \(HTTP 308\)$/,
  ),
};

for (const [name, { answers, waits = [], error = null, says = /^$/, details }] of Object.entries(ROWS)) {
  Deno.test(`before the first event: ${name}`, async () => {
    await using home = new Sandbox();
    const fixture = writeFixture(
      `${home.directory}/fixture`,
      answers.map(([status, body, headers = {}]) => ({
        response: {
          status,
          headers: {
            "content-type": typeof body === "string" ? events["content-type"] : "application/json",
            ...headers,
          },
        },
        body: typeof body === "string"
          ? Uint8Array.from(body, (letter) => letter.charCodeAt(0))
          : printed(body),
      })),
    );
    const args = ["--fixture", fixture, "--match", "sequence", "-m", "gpt-5.6", "Go"];
    const { code, stdout } = await home.call(["run", "--json", "--new", "-s", "s", ...args]);
    const lines: Json[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
    const failure = lines.find(({ type }) => type === "error");
    assert.deepEqual([failure?.code ?? null, code], [error, error === null ? 0 : EXITS[error]], stdout);
    assert.match(failure?.message ?? "", says);
    for (const [member, value] of Object.entries(details ?? {})) {
      assert.deepEqual(failure.details[member], value);
    }
    assert.ok(!stdout.includes("canary"));
    const retries = lines.filter(({ type, kind }) => type === "notice" && kind === "retry");
    assert.equal(retries.length, waits.length, stdout);
    for (const [index, [least, most]] of waits.entries()) {
      const { delay_ms } = retries[index];
      assert.ok(delay_ms >= least && delay_ms <= most, JSON.stringify(retries[index]));
    }
  });
}

Deno.test("no message shows a key that a server repeats", async () => {
  await using home = new Sandbox();
  // No shape by which a key is known.
  const key = "plain-canary-words";
  const refusal = { error: { message: `Key ${key} is not ${key}, nor ${key}` } };
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => Response.json(refusal, { status: 400 }),
  );
  const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: `http://127.0.0.1:${server.addr.port}/v1` };
  const { stdout, stderr } = await home.call(["run", "--json", "--new", "-s", "s", "-m", "gpt-5.6", "Go"], {
    env,
  });
  assert.match(stdout, /Key \[key\] is not \[key\]/);
  assert.ok(!`${stdout}${stderr}${JSON.stringify(home.turns("s"))}`.includes(key), stdout);
});

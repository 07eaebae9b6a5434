/** Answers that fail before their first event: which are tried again, after which wait, and how the run ends. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { recordedErrors } from "../../support/recorded_streams.ts";
import { Sandbox } from "../../support/reprise.ts";
import { type Answer, RecordedRuns } from "./recorded_runs.ts";
import { PLAIN } from "./streams_answers.ts";

interface Row {
  readonly answers: readonly Answer[];
  /** Lowest and highest wait before each further attempt, in milliseconds. */
  readonly waits?: readonly (readonly [number, number])[];
  /** Code of the error that ends the run. @default {null} */
  readonly error?: string | null;
  readonly says?: RegExp;
  readonly details?: Json;
  readonly flags?: readonly string[];
}

const OK = PLAIN.responses;
const rate = { error: { code: "rate_limit_exceeded", message: "Slow down" } };
const limited = (headers: Readonly<Record<string, string>> = {}): Answer => [429, rate, headers];
const quota = {
  error: { code: "insufficient_quota", type: "insufficient_quota", message: "Spent.", param: null },
};
/** Half a second, less up to a quarter. */
const FIRST = [375, 500] as const;
const SECOND = [750, 1000] as const;
const waiting = (milliseconds: number, headers: Readonly<Record<string, string>>): Row => ({
  answers: [limited(headers), OK],
  waits: [[milliseconds, milliseconds]],
});
const inText = (message: string, milliseconds: number): Row => ({
  answers: [[429, { error: { ...rate.error, message } }], OK],
  waits: [[milliseconds, milliseconds]],
});
const failing = (error: Json) => {
  const data = { type: "response.failed", response: { id: "resp_1", status: "failed", error } };
  return `event: response.failed\ndata: ${JSON.stringify(data)}\n\n`;
};
/** A run of half a minute. */
const late = (after: string, wait: string): Row => ({
  answers: [limited({ "retry-after": after })],
  flags: ["--timeout", "30"],
  error: "rate_limited",
  says: new RegExp(`; the API asks to wait ${wait}$`),
});
const again = (answer: Answer): Row => ({ answers: [answer, OK], waits: [FIRST] });
const never = (error: string, answer: Answer, says = /./): Row => ({ answers: [answer], error, says });

/** Exit codes by error. */
const EXITS: Readonly<Record<string, number>> = {
  ...{ unauthorized: 8, quota_exhausted: 9, context_overflow: 11, request_refused: 13 },
  ...{ provider_failed: 10, bad_stream: 10, redirected: 10, rate_limited: 9 },
};

const ROWS: Readonly<Record<string, Row>> = {
  "the wait is the one in milliseconds": waiting(125, { "retry-after-ms": "125", "retry-after": "5" }),
  "a fraction of a second is waited": waiting(50, { "retry-after": "0.05" }),
  "a wait of half an hour, less a second": waiting(1_799_000, { "retry-after": "1799" }),
  "a date is waited for": {
    answers: [limited({ "retry-after": "Sat, 21 Nov 2026 20:20:00 GMT" }), OK],
    waits: [[60_000, 121_000]],
  },
  "a date in the oldest form, which is in UTC": {
    answers: [limited({ "retry-after": "Sat Nov 21 20:20:00 2026" }), OK],
    waits: [[60_000, 121_000]],
  },
  "the longest wait of a header that came twice": waiting(90_000, { "retry-after": "30, 90" }),
  "a wait with its unit": waiting(90_000, { "retry-after": "90s" }),
  "the wait that a text of a rate limit names": inText("Please try again in 3.05s.", 3050),
  "such a wait in several units": inText("Please try again in 1m20s. Visit us.", 80_000),
  "such a wait in milliseconds": inText("Please try again in 120ms.", 120),
  "such a wait in words": inText("Please retry after 27 seconds.", 27_000),
  "the wait of an overload": {
    answers: [[503, rate, { "retry-after": "120" }], OK],
    waits: [[120_000, 120_000]],
  },
  "the wait of a rate limit in the stream": {
    answers: [failing({ code: "rate_limit_exceeded", message: "Please try again in 90s." }), OK],
    waits: [[90_000, 90_000]],
  },
  "a wait longer than the run ends it": late("120", "120 s"),
  "a wait that ends with the run ends it": late("30", "30 s"),
  "a wait of a century ends the run": late("3153600000", "more than a year"),
  "a wait without measure ends the run": late("9".repeat(400), "more than a year"),
  "a date after the run ends it": late("Sat, 21 Nov 2099 00:00:00 GMT", "more than a year"),
  "an overload that outlasts the run ends it": {
    ...late("120", "120 s"),
    answers: [[503, rate, { "retry-after": "120" }]],
    error: "provider_failed",
  },
  "a rate limit in the stream that outlasts the run ends it": {
    answers: [failing({ code: "rate_limit_exceeded", message: "Please try again in 90s." })],
    flags: ["--timeout", "30"],
    error: "rate_limited",
    says: /try again in 90s/,
  },
  "the last failure names its wait too": {
    answers: [
      limited({ "retry-after": "1" }),
      limited({ "retry-after": "1" }),
      limited({ "retry-after": "7" }),
    ],
    waits: [[1000, 1000], [1000, 1000]],
    error: "rate_limited",
    says: /: Slow down; the API asks to wait 7 s$/,
  },
  "no wait at all": waiting(0, { "retry-after": "0" }),
  "a wait below zero is ignored": again(limited({ "retry-after": "-5" })),
  "a number in a text is no date": again(limited({ "retry-after": "in 2050" })),
  "a date that is past is ignored": again(limited({ "retry-after": "Sat, 21 Nov 2020 00:00:00 GMT" })),
  "a wait that is no number is ignored": again(limited({ "retry-after": "soon" })),
  "without advice the wait doubles": { answers: [limited(), limited(), OK], waits: [FIRST, SECOND] },
  "an empty stream is tried again": again(""),
  "a stream of comments is tried again": again(": OPENROUTER PROCESSING\n\n"),
  "a refusal is tried again if the server says so": again([400, { error: { message: "x" } }, {
    "x-should-retry": "true",
  }]),
  "retries end, with the error of the last attempt": {
    answers: [500, 502, 503].map((status, at) => [status, { error: { message: `attempt ${at}` } }] as const),
    waits: [FIRST, SECOND],
    error: "provider_failed",
    says: /HTTP 503.*attempt 2$/,
  },
  "500 is not tried again if the server says so": never("provider_failed", [500, rate, {
    "x-should-retry": "false",
  }]),
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
  "an error names its request": {
    ...never("request_refused", [400, { error: { message: "No" } }, { "apim-request-id": "req_8" }]),
    details: { request_id: "req_8" },
  },
  "a web page is no stream": never("bad_stream", [200, "<h1>Log in</h1>", { "content-type": "text/html" }]),
  "bytes that are no UTF-8 are no stream": never("bad_stream", Uint8Array.of(100, 255)),
  "a redirect is not followed, and only the origin of its target is named": never(
    "redirected",
    [308, "", { location: "https://elsewhere.example/v1?token=canary" }],
    /it redirects to https:\/\/elsewhere\.example \(HTTP 308\)$/,
  ),
};

for (
  const [name, { answers, waits = [], error = null, says = /^$/, details, flags }] of Object.entries(ROWS)
) {
  Deno.test(`before the first event: ${name}`, async () => {
    await using home = new RecordedRuns();
    const { code, error: failure, retries, stdout } = await home.run(answers, { flags });
    assert.deepEqual([failure?.code ?? null, code], [error, error === null ? 0 : EXITS[error]], stdout);
    assert.match(failure?.message ?? "", says);
    for (const [member, value] of Object.entries(details ?? {})) {
      assert.deepEqual(failure.details[member], value);
    }
    assert.ok(!stdout.includes("canary"));
    assert.equal(retries.length, waits.length, stdout);
    for (const [index, [least, most]] of waits.entries()) {
      const { delay_ms } = retries[index];
      assert.ok(delay_ms >= least && delay_ms <= most, JSON.stringify(retries[index]));
    }
  });
}

const of = (error: Json): Json => ({ error });
/** Status, body, code of the failure, and the server's own text in its message. */
const JUDGED: readonly (readonly [number, Json, string, RegExp?])[] = [
  [408, of({ message: "slow" }), "request_refused, tried again"],
  [409, of({ message: "Conflict" }), "request_refused, tried again"],
  [413, of({ message: "x", type: "request_too_large" }), "request_refused"],
  [401, of({ message: "No", code: "invalid_api_key" }), "unauthorized"],
  [403, of({ message: "no", code: "unsupported_country" }), "unauthorized"],
  [429, of({ code: 429, message: "Slow" }), "rate_limited, tried again", /"429"\): Slow$/],
  [429, of("Too many requests"), "rate_limited, tried again", /: Too many requests$/],
  [429, of({ message: "spent", type: "insufficient_quota", code: null }), "quota_exhausted"],
  [402, of({ message: "Insufficient Balance" }), "quota_exhausted"],
  [400, of({ message: "x", code: "context_length_exceeded" }), "context_overflow"],
  [400, of("maximum context length is 8192 tokens"), "context_overflow"],
  [400, of({ message: "prompt is too long: 210000 tokens > 200000 maximum" }), "context_overflow"],
  [500, of({ message: "context window lookup failed" }), "provider_failed, tried again"],
  [
    400,
    of({
      message: "Unsupported:\n 'a'.",
      type: "t",
      param: "reasoning.effort",
      code: "unsupported_parameter",
    }),
    "request_refused",
    /^The API .* \(HTTP 400, "unsupported_parameter", parameter "reasoning.effort"\): Unsupported: 'a'$/,
  ],
  // Bodies of other servers.
  [404, { detail: "Not Found" }, "request_refused", /: Not Found$/],
  [
    400,
    { detail: [{ loc: ["body", "input", 1, "id"], msg: "Expired" }, { loc: ["body"], msg: "Bad" }] },
    "request_refused",
    /parameter "input\[1\]\.id"\): Expired \(input\[1\]\.id\); Bad$/,
  ],
  [404, { error: { message: 17 } }, "request_refused", /: "\{\\"error\\"/],
  [500, "", "provider_failed, tried again", /: an empty body$/],
  [400, null, "request_refused", /: "null"$/],
  [
    502,
    `<html><title>502 Bad Gateway</title>\n<body>\x1b[31m nginx ${"x".repeat(5000)}`,
    "provider_failed, tried again",
    /^\P{Cc}{0,90}: "502 Bad Gateway \[31m nginx x{1,200}…"$/u,
  ],
  [401, of({ message: "Incorrect API key: sk-proj-abcdefghijkl." }), "unauthorized", /^(?!.*abcdef)/],
  [
    200,
    of({ message: "Provider error", code: 429 }),
    "bad_stream",
    /"application\/json" .*: Provider error$/,
  ],
];

for (const [status, body, judged, says = /./] of JUDGED) {
  Deno.test(`HTTP ${status} with ${JSON.stringify(body).slice(0, 90)} is ${judged}`, async () => {
    await using home = new RecordedRuns();
    const { error: failure, retries: [retry], stdout } = await home.run([[status, body], OK]);
    const { code, message } = retry ?? failure;
    assert.equal(`${code}${retry === undefined ? "" : ", tried again"}`, judged, stdout);
    assert.match(message, says);
  });
}

Deno.test("each recorded error is known by its words", async () => {
  await using home = new RecordedRuns();
  const codes = [];
  for (const [index, { name, status, headers, body }] of recordedErrors().entries()) {
    const answer = [status, body, { "content-type": headers.get("content-type") ?? "" }] as const;
    const { retries: [retry], error: failure } = await home.run([answer, OK], { session: `s${index}` });
    codes.push(`${name} ${(retry ?? failure).code}`);
  }
  assert.ok(codes.length >= 9);
  assert.deepEqual(codes.filter((code) => !code.endsWith(" request_refused")), [
    "responses/quota_error.json quota_exhausted",
    ...Array.from({ length: 3 }, () => "responses/rate_limited.yaml rate_limited"),
  ]);
});

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

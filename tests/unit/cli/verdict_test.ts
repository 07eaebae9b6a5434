/** Verdicts of `certify` at their edges; tests/cli/binary/certify_test.ts has clients for each. */
import assert from "node:assert/strict";
import { commonAnswer } from "../../../src/cli/certify/answer.ts";
import type { ObservedRequest, Run } from "../../../src/cli/certify/cell_run.ts";
import { type Baseline, fixedVerdict, judge } from "../../../src/cli/certify/verdict.ts";

const ANSWER = "In Rome it rains today, and tomorrow the sun shines.";
const CALL = { id: "call_1", name: "get_weather", args: '{"city":"Rome"}', exchange: 1 };

const asked = (atMs: number, more: Partial<ObservedRequest> = {}): ObservedRequest => ({
  ...{ key: "exchange 1", json: {}, atMs, exchange: 1, fault: null, problem: null, after: null },
  ...{ lastMs: atMs, endMs: atMs, hungUp: false },
  ...more,
});
const broken = (atMs: number, more: Partial<ObservedRequest> = {}) => asked(atMs, { fault: "500", ...more });
const next = (atMs: number, more: Partial<ObservedRequest> = {}) =>
  asked(atMs, { key: "exchange 2", exchange: 2, ...more });
/** A request whose history has calls with these arguments, and a result of each. */
const sending = (...args: readonly string[]) => ({
  input: args.flatMap((each) => [
    { type: "function_call", call_id: "call_1", name: "get_weather", arguments: each },
    { type: "function_call_output", call_id: "call_1", output: "rain" },
  ]),
});

const ran = (requests: readonly ObservedRequest[], more: Partial<Run> = {}): Run => ({
  ...{ requests, code: 0, stdout: `${ANSWER}\n`, stderr: "", answer: "", effects: 0, ms: 1000 },
  ...more,
});
const BASELINE: Baseline = {
  ...{
    requests: 2,
    answer: { text: ANSWER },
    errors: "",
    args: new Map(),
    effects: 0,
    silenceMs: 100,
    ms: 500,
  },
};
const BROKEN = {
  ...{
    number: 1,
    sent: { calls: [], finished: new Set<string>(), text: "" },
    retryAfterMs: null,
    isWhole: false,
  },
  calls: new Map([[CALL.id, CALL]]),
};
const LIMITS = { maxWaitMs: 330_000, maxRetries: 10 };

type Facts = Parameters<typeof judge>[0];
const factsOf = (run: Run, more: Partial<Facts> = {}): Facts => ({
  ...{ run, baseline: BASELINE, broken: BROKEN, ...LIMITS, nowMs: run.ms },
  ...more,
});
const DONE = [broken(0), asked(100), next(200)];
const many = (count: number, request: (at: number) => ObservedRequest) =>
  Array.from({ length: count }, (_, index) => request(index * 10));

const rows: readonly (readonly [verdict: string, why: string, run: Run, more?: Partial<Facts>])[] = [
  ["unmet", "without a broken answer", ran([asked(0), next(100)])],
  ["recovered", "with a retry", ran(DONE)],
  ["unhurt", "without a retry", ran([broken(0), next(100)])],
  ["acted", "with half of the arguments", ran([broken(0), next(9, { json: sending('{"city":"Rom') })])],
  [
    "acted",
    "with other arguments after a retry",
    ran([broken(0), asked(5), next(9, { json: sending('{"city":"Ro"}') })]),
  ],
  ["acted", "with a call that never finished", ran([broken(0), next(9, { json: sending(CALL.args) })])],
  [
    "acted",
    "with such a call alone",
    ran([broken(0), next(9, { json: { input: sending(CALL.args).input.slice(0, 1) } })]),
  ],
  [
    "acted",
    "with a result of such a call",
    ran([broken(0), next(9, { json: { input: sending(CALL.args).input.slice(1) } })]),
  ],
  [
    "recovered",
    "with the same arguments in another order",
    ran([broken(0), asked(5), next(9, { json: sending('{ "city": "Rome" }') })]),
  ],
  [
    "unhurt",
    "with a call that finished before the break",
    ran([broken(0), next(9, { json: sending(CALL.args) })]),
    {
      broken: { ...BROKEN, sent: { ...BROKEN.sent, finished: new Set([CALL.id]) } },
    },
  ],
  [
    "recovered",
    "with arguments that the client completes without a fault too",
    ran([broken(0), asked(5), next(9, { json: sending('{"city":"Rome","unit":"C"}') })]),
    {
      baseline: { ...BASELINE, args: new Map([[CALL.id, '{"city":"Rome","unit":"C"}']]) },
    },
  ],
  [
    "repeated",
    "with two results of a call",
    ran([broken(0), asked(5), next(9, { json: sending(CALL.args, CALL.args) })]),
  ],
  ["repeated", "with one more effect", ran(DONE, { effects: 3 }), { baseline: { ...BASELINE, effects: 2 } }],
  ["recovered", "with the same effects", ran(DONE, { effects: 2 }), {
    baseline: { ...BASELINE, effects: 2 },
  }],
  ["failed", "with as many retries as allowed", ran(many(11, broken), { code: 1, stderr: "error" })],
  ["hammered", "with one retry more", ran(many(12, broken), { code: 1 })],
  [
    "failed",
    "with many requests of which none is asked too often",
    ran([...many(11, broken), next(200, { fault: "500" })], { code: 1, stderr: "error" }),
  ],
  ["recovered", "exactly 10 % too early", ran([broken(0), asked(2700), next(2800)]), {
    broken: { ...BROKEN, retryAfterMs: 3000 },
  }],
  ["hammered", "earlier than that", ran([broken(0), asked(2699), next(2800)]), {
    broken: { ...BROKEN, retryAfterMs: 3000 },
  }],
  [
    "recovered",
    "with three times the requests",
    ran([broken(0), ...many(6, (at) => asked(at, { key: `x${at}`, exchange: at === 0 ? 1 : null }))]),
  ],
  [
    "looped",
    "with one request more",
    ran([broken(0), ...many(7, (at) => asked(at, { key: `x${at}`, exchange: at === 0 ? 1 : null }))]),
  ],
  ["looped", "with a request whose answer had arrived", ran([broken(0), asked(1), asked(2)])],
  ["recovered", "with two requests at a time", ran([broken(0), asked(1, { lastMs: 9, endMs: 9 }), asked(2)])],
  ["recovered", "with a request whose answer lasts", ran([broken(0), asked(1, { endMs: null }), asked(2)])],
  [
    "recovered",
    "with a request whose answer the client left",
    ran([broken(0), asked(1, { hungUp: true }), asked(2)]),
  ],
  ["lied", "without the answer", ran(DONE, { stdout: "In Rome it rains\n" })],
  ["muttered", "without the answer but with an error", ran(DONE, { stdout: "", stderr: "Error: 500\n" })],
  [
    "lied",
    "with an error that is there without a fault",
    ran(DONE, { stdout: "", stderr: "no error log\n" }),
    {
      baseline: { ...BASELINE, errors: "no error log\n" },
    },
  ],
  ["recovered", "with the answer in a file", ran(DONE, { stdout: "", answer: ANSWER })],
  [
    "recovered",
    "with the answer in colours and over two lines",
    ran(DONE, { stdout: `\u001b[1m${ANSWER.replace(" and", "\n and")}\u001b[0m` }),
  ],
  ["recovered", "with the answer in JSON", ran(DONE, { stdout: JSON.stringify({ text: ANSWER, ms: 12 }) })],
  ["garbled", "with a part before the answer", ran(DONE, { stdout: `In Rome it${ANSWER}` }), {
    broken: { ...BROKEN, sent: { ...BROKEN.sent, text: "In Rome it" } },
  }],
  ["unseen", "with nothing to compare", ran([broken(0), next(100)]), {
    baseline: { ...BASELINE, answer: null },
  }],
  [
    "unseen",
    "with lines that a broken answer leaves as they are",
    ran([broken(0), next(100)], { stdout: "ok" }),
    {
      baseline: { ...BASELINE, answer: { lines: ["ok"] } },
    },
  ],
  ["lied", "without a line of its own", ran([broken(0), next(100)], { stdout: "IN RO" }), {
    baseline: { ...BASELINE, answer: { lines: ["IN ROME"] } },
  }],
  ["recovered", "with the same lines after the whole answer", ran(DONE, { stdout: "ok" }), {
    baseline: { ...BASELINE, answer: { lines: ["ok"] } },
  }],
  // A line may count the requests.
  ["unseen", "with other lines after the whole answer", ran(DONE, { stdout: "ok\n3 requests" }), {
    baseline: { ...BASELINE, answer: { lines: ["ok", "2 requests"] } },
  }],
  [
    "lied",
    "with other lines of an answer that the fault leaves whole",
    ran([broken(0), next(100)], { stdout: "no" }),
    {
      ...{ baseline: { ...BASELINE, answer: { lines: ["ok"] } }, broken: { ...BROKEN, isWhole: true } },
    },
  ],
  [
    "unhurt",
    "with the same lines of an answer that the fault leaves whole",
    ran([broken(0), next(100)], { stdout: "ok" }),
    {
      ...{ baseline: { ...BASELINE, answer: { lines: ["ok"] } }, broken: { ...BROKEN, isWhole: true } },
    },
  ],
  ["recovered", "with nothing to compare but a whole answer on the wire", ran(DONE), {
    baseline: { ...BASELINE, answer: null },
  }],
  ["failed", "with another exit code", ran(DONE, { code: 3, stderr: "Error: 500" })],
  ["silent", "with another exit code and no word", ran(DONE, { code: 3 })],
  ["failed", "after a silence of 30 s", ran([broken(0)], { code: 1, ms: 30_000, stderr: "error" })],
  ["waits", "after a longer silence", ran([broken(0)], { code: 1, ms: 30_001, stderr: "error" })],
  [
    "failed",
    "after a silence that is half of what is usual",
    ran([broken(0)], { code: 1, ms: 50_000, stderr: "error" }),
    {
      baseline: { ...BASELINE, silenceMs: 25_000 },
    },
  ],
  [
    "unanswerable",
    "after a miss",
    ran([broken(0), next(9, { exchange: null, problem: "No recorded exchange" })], { code: 1 }),
  ],
  [
    "recovered",
    "after a miss, with the answer",
    ran([...DONE, next(300, { exchange: null, problem: "No recording" })]),
  ],
];

for (const [verdict, why, run, more] of rows) {
  Deno.test(`certify says ${verdict} of a command ${why}`, () => {
    const judged = judge(factsOf(run, more));
    assert.equal(judged.verdict, verdict, judged.detail);
  });
}

Deno.test("certify leaves a command that is silent for the limit, or whose tries grow until then, and no other", () => {
  const fixed = (requests: readonly ObservedRequest[], nowMs: number) =>
    fixedVerdict(factsOf(ran(requests, { code: null, ms: nowMs })))?.verdict ?? null;
  assert.equal(fixed([broken(1000)], 330_999), null);
  assert.equal(fixed([broken(1000)], 331_000), "hung");
  // The last byte counts, and the last request, not the first.
  assert.equal(fixed([broken(1000, { lastMs: 5000 })], 334_999), null);
  assert.equal(fixed([asked(1000)], 900_000), null);
  const growing = [broken(0), broken(100_000), broken(300_000)];
  assert.equal(fixed(growing, 329_999), null);
  assert.equal(fixed(growing, 330_000), "retrying");
  assert.equal(fixed([broken(0), broken(150_000), broken(300_000)], 330_000), null);
  assert.equal(fixed(many(12, broken), 200), "hammered");
});

Deno.test("certify takes the last recorded text that both runs print as the answer, else the lines that both print", () => {
  const both = (first: string, second: string, texts: readonly string[]) =>
    commonAnswer([ran([], { stdout: first }), ran([], { stdout: second })], texts);
  assert.deepEqual(both("a text. More", "a text. Other", ["a text.", "title"]), { text: "a text." });
  assert.deepEqual(both("12:01 begun\nsunny\n", "12:02 begun\nsunny\n", ["rain"]), { lines: ["sunny"] });
  assert.equal(both("12:01", "12:02", ["rain"]), null);
  // A short text counts as a word of its own only.
  assert.equal(both("NOTOK", "NOTOK now", ["OK"]), null);
});

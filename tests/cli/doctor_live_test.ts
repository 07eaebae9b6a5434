/** doctor --live: one tiny request, and what became of it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { ScriptedResponse } from "../support/responses_server/script.ts";
import { answer, message, reasoning } from "../support/responses_server.ts";
import { httpError } from "../support/responses_server/faults.ts";
import type { Called } from "../support/reprise.ts";
import { HELLO, KEY, Place } from "./harness.ts";

interface Report {
  readonly ok: boolean;
  readonly exit_code: number;
  readonly checks: readonly { readonly name: string; readonly level: string; readonly detail: string }[];
}

function live(called: Called): { level: string; detail: string; report: Report } {
  const report: Report = JSON.parse(called.stdout);
  assert.equal(called.code, report.exit_code);
  const check = report.checks.find(({ name }) => name === "live");
  assert.ok(check !== undefined, called.stdout);
  assert.ok(!called.stdout.includes(KEY) && !called.stderr.includes(KEY), "the key is never shown");
  return { ...check, report };
}

const LIVE = ["doctor", "--live", "--json"];

test("doctor --live sends one tiny request and says how it went: answered", async () => {
  await using place = new Place([answer([reasoning(), message("ready")])]);
  const { level, detail, report } = live(await place.call(LIVE));
  assert.deepEqual([level, report.ok], ["ok", true]);
  assert.match(
    detail,
    /^gpt-5\.6 answered \(completed\) in \d+\.\d s, 1 reasoning item, account named$/,
  );
  assert.deepEqual(place.server.refusals, []);
  assert.equal(place.server.requests.length, 1);
  assert.ok((place.server.requests[0]?.text.length ?? 1e9) < 500);
  assert.throws(
    () => Deno.statSync(`${place.sandbox.home}/sessions`),
    Deno.errors.NotFound,
    "nothing is kept",
  );
});

/** Answers, variables, and what becomes of the check: its level, the exit code, the detail, the requests sent. */
const GOES: readonly (readonly [
  what: string,
  answers: readonly ScriptedResponse[],
  env: Record<string, string>,
  expected: readonly [level: string, exit: number, detail: RegExp, requests: number],
])[] = [
  [
    "answered only in part, which is enough to know",
    [
      answer([reasoning()], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
    ],
    {},
    ["ok", 0, /answered/, 1],
  ],
  ["the key is refused", [HELLO], { OPENAI_API_KEY: "sk-other" }, ["failed", 8, /refused the key/, 1]],
  [
    "the model is not known",
    [
      httpError(404, { message: "The model 'gpt-5.6' does not exist.", code: "model_not_found" }),
    ],
    {},
    ["failed", 13, /./, 1],
  ],
  ["no key is set", [], { OPENAI_API_KEY: "" }, ["failed", 2, /no key is set \(Set OPENAI_API_KEY/, 0]],
  [
    "the stream fails",
    [
      answer([], { end: { kind: "failed", error: { code: "insufficient_quota", message: "Pay first" } } }),
    ],
    {},
    ["failed", 9, /./, 1],
  ],
];

for (const [what, answers, env, [expected, exit, says, requests]] of GOES) {
  test(`doctor --live sends one tiny request and says how it went: ${what}`, async () => {
    await using place = new Place(answers);
    const { level, detail, report } = live(await place.call(LIVE, { env }));
    assert.deepEqual([level, report.exit_code], [expected, exit]);
    assert.match(detail, says);
    assert.equal(place.server.requests.length, requests);
  });
}

test("doctor --live sends one tiny request and says how it went: people get a line, and nothing is sent without --live", async () => {
  await using place = new Place([HELLO]);
  const called = await place.call(["doctor", "--live"]);
  assert.equal(called.code, 0);
  assert.match(called.stdout, /^ok {7}live: gpt-5\.6 answered/m);
  assert.ok(!(await place.call(["doctor"])).stdout.includes("live"));
  assert.equal(place.server.requests.length, 1);
});

test("a setting that no verb could use hides no other check of doctor", async () => {
  await using place = new Place([]);
  for (
    const [env, names] of [
      [{ REPRISE_REASONING_REPLAY: "maybe" }, ["reasoning"]],
      [{ REPRISE_RESPONSE_TIMEOUT: "abc" }, ["settings"]],
      [{ REPRISE_RESPONSE_TIMEOUT: "abc", OPENAI_BASE_URL: "no url" }, ["endpoint", "settings"]],
    ] as const
  ) {
    const called = await place.call(["doctor", "--json"], { env });
    const report: Report = JSON.parse(called.stdout);
    assert.deepEqual([called.code, report.exit_code], [2, 2]);
    assert.deepEqual(
      report.checks.filter(({ level }) => level === "failed").map((check) => check.name),
      names,
    );
    for (const other of ["home", "endpoint", "model", "permissions", "key", "network"]) {
      assert.ok(report.checks.some((check) => check.name === other), `${other} in ${called.stdout}`);
    }
  }
});

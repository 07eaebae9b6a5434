/** doctor --live: one tiny request, and what became of it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
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

test("doctor --live sends one tiny request and says how it went: answered only in part, which is enough to know", async () => {
  await using place = new Place([
    answer([reasoning()], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
  ]);
  assert.equal(live(await place.call(LIVE)).level, "ok");
});

test("doctor --live sends one tiny request and says how it went: the key is refused", async () => {
  await using place = new Place([HELLO]);
  const { level, detail, report } = live(await place.call(LIVE, { env: { OPENAI_API_KEY: "sk-other" } }));
  assert.deepEqual([level, report.exit_code], ["failed", 8]);
  assert.match(detail, /refused the key/);
});

test("doctor --live sends one tiny request and says how it went: the model is not known", async () => {
  const text = { message: "The model 'gpt-5.6' does not exist.", code: "model_not_found" };
  await using place = new Place([httpError(404, text)]);
  const { level, report } = live(await place.call(LIVE));
  assert.deepEqual([level, report.exit_code], ["failed", 13]);
});

test("doctor --live sends one tiny request and says how it went: no key is set", async () => {
  await using place = new Place([]);
  const { level, detail, report } = live(await place.call(LIVE, { env: { OPENAI_API_KEY: "" } }));
  assert.deepEqual([level, report.exit_code], ["failed", 2]);
  assert.match(detail, /no key is set \(Set OPENAI_API_KEY/);
  assert.equal(place.server.requests.length, 0);
});

test("doctor --live sends one tiny request and says how it went: the stream fails", async () => {
  const error = { code: "insufficient_quota", message: "Pay first" };
  await using place = new Place([answer([], { end: { kind: "failed", error } })]);
  const { level, report } = live(await place.call(LIVE));
  assert.deepEqual([level, report.exit_code], ["failed", 9]);
});

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

/** Fixtures of strangers with hostile match rules: refused when they are read, or bounded in time and memory. */
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import type { MatchRules } from "../../../src/fixture/match/rules/match_rules.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { COMPLETED } from "../../support/raw_upstream.ts";

const KIB = 1024;
/** Most time for a request under hostile rules, on a slow and busy machine: without bounds, each takes hours. */
const MAX_MS = 60_000;

function ask(text: string, more: JsonObject = {}): JsonValue {
  return { model: "gpt-5.6", input: [{ role: "user", content: text }], stream: true, ...more };
}

function fixtureWith(path: string, match: MatchRules, request: JsonValue = ask("Hi")): string {
  const exchanges = [{ request: { body: request }, body: COMPLETED }];
  return writeFixture(path, exchanges, { match, provider: "compatible" });
}

const paths = (count: number) => Array.from({ length: count }, (_, index) => `metadata.m${index}`);
const replace = (pattern: string, text = "x"): MatchRules => ({ replace: [{ pattern, with: text }] });

const REFUSED: readonly (readonly [what: string, match: MatchRules, says: RegExp])[] = [
  ["a look-behind", replace("(?<=a+)b"), /match\.replace\[0\].*is refused by the engine/],
  ["101 rules", { ignore: paths(100), normalize: ["cwd"] }, /match has 101 rules, more than 100/],
  ["a pattern over 1 KiB", replace("a".repeat(KIB)), /match\.replace\[0\].*has 1025 bytes, more than 1024/],
  ["a replacement over 1 KiB", replace("a", "b".repeat(KIB)), /match\.replace\[0\].*has 1025 bytes/],
  ["a path over 1 KiB", { ignore: [`$.${"a".repeat(KIB)}`] }, /match\.ignore\[0\].*has 1026 bytes/],
  ["a path of 400 steps", { ignore: [`$${".a".repeat(400)}`] }, /match\.ignore\[0\].*has more than 32 steps/],
  ["thousands of rules", { ignore: paths(5000) }, /match has 5000 rules, more than 100/],
  ["a reference to a group", replace("(a+)\\1"), /match\.replace\[0\].*is refused by the engine/],
  [
    "repetitions of repetitions",
    replace("((a{30}){30}){30}"),
    /match\.replace\[0\].*(?:is refused by the engine|compiles to \d+ instructions)/,
  ],
  [
    "a large program",
    replace("\\pL{990}\\pN{990}\\pZ{990}"),
    /match\.replace\[0\].*compiles to \d+ instructions/,
  ],
  [
    "a program that takes a second for a long string",
    replace("(?:a?){500}a{500}"),
    /match\.replace\[0\].*compiles to 1502 instructions, more than 500/,
  ],
  ["a group that is not there", replace("a", "$9"), /match\.replace\[0\].*has no group 9/],
  ["a filter", { ignore: ["$..[?(@.a==1)]"] }, /match\.ignore\[0\].*has a filter/],
  ["encrypted contents", { ignore: ["$..encrypted_content"] }, /"encrypted_content", which always counts/],
  ["the whole body", { ignore: ["$"] }, /selects the whole body/],
  ["an unknown name", { normalize: ["__proto__"] }, /match\.normalize\[0\].*is no named rule/],
];

// All verbs read fixtures by the same code.
const SOME = REFUSED.slice(0, 2);

for (
  const [verb, call, code, rows] of [
    ["serve", (fixture: string) => ["serve", fixture, "--", "true"], 2, REFUSED],
    ["fixture lint", (fixture: string) => ["fixture", "lint", fixture], 7, SOME],
    ["run --fixture", (fixture: string) => ["run", "--fixture", fixture, "-m", "gpt-5.6", "Hi"], 2, SOME],
  ] as const
) {
  Deno.test(`${verb} refuses a fixture with a match rule that cannot be bounded, and names the rule`, async () => {
    await using sandbox = new Sandbox();
    for (const [index, [what, match, says]] of rows.entries()) {
      const fixture = fixtureWith(`${sandbox.directory}/${index}`, match);
      const started = performance.now();
      const called = await sandbox.call(call(fixture));
      assert.equal(called.code, code, `${what}: ${called.stdout}${called.stderr}`);
      assert.match(called.stdout + called.stderr, says, what);
      assert.ok(performance.now() - started < MAX_MS, what);
    }
  });
}

/** Sends requests to `serve` with a fixture under these rules; returns statuses and events. */
async function served(match: MatchRules, recorded: JsonValue, requests: readonly JsonValue[]) {
  await using sandbox = new Sandbox();
  const fixture = fixtureWith(`${sandbox.directory}/fixture`, match, recorded);
  const server = sandbox.start(["serve", "--json", fixture]);
  try {
    await server.printed('"ready"');
    const { origin } = JSON.parse(server.stdout.split("\n", 1)[0] ?? "");
    const statuses: number[] = [];
    for (const body of requests) {
      const response = await fetch(`${origin}/v1/responses`, {
        method: "POST",
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(MAX_MS),
      });
      statuses.push(response.status);
      await response.body?.cancel();
    }
    return { statuses, memory: memoryOf(server.process.pid), ...await ended() };
  } finally {
    await ended();
  }

  async function ended() {
    try {
      server.process.kill("SIGTERM");
    } catch {
      // It has ended already.
    }
    const { stdout, stderr } = await server.ended();
    return { events: stdout.trimEnd().split("\n").map((line) => JSON.parse(line)), stderr };
  }
}

/** Peak memory of a process in bytes; Linux only. */
function memoryOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * KIB;
}

const LONG = `${"a".repeat(60 * KIB)}!`;
/** Recorded under the rules, and received with a difference that they do not take out. */
const BOUNDED: readonly (readonly [what: string, match: MatchRules, recorded: JsonValue])[] = [
  ["a pattern that makes other engines backtrack", replace("^(a+)+$"), ask(LONG)],
  ["alternatives that overlap", replace("(a|aa|a?)*b"), ask(LONG)],
  ["searches that begin again at each character", replace("a*b|a", "c"), ask(LONG)],
  [
    "replacements that make long strings longer",
    replace("a", "b".repeat(1000)),
    ask("Hi", { tools: Array(50).fill(LONG) }),
  ],
  [
    "replacements that double a string again and again",
    { replace: Array.from({ length: 100 }, (_, index) => ({ pattern: `[ab]|${index}`, with: "ab" })) },
    ask("a"),
  ],
  [
    "patterns on a thousand long strings",
    replace("(a*)*!"),
    ask("Hi", { tools: Array(1000).fill(LONG.slice(55_000)) }),
  ],
  [
    "paths that descend again and again",
    { ignore: Array.from({ length: 90 }, (_, index) => `$${"..a".repeat(15)}..m${index}`) },
    ask("Hi", { deep: nested(400), wide: Array.from({ length: 20_000 }, () => ({ a: { a: 1 } })) }),
  ],
  [
    "thousands of values for named rules",
    { normalize: ["cwd", "home", "uuid", "date"] },
    ask(Array.from({ length: 5000 }, (_, index) => `<cwd>/srv/a/${index}</cwd>`).join("\n")),
  ],
];

function nested(depth: number): JsonValue {
  let value: JsonValue = { b: 1 };
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

for (const [what, match, recorded] of BOUNDED) {
  Deno.test(`serve answers under hostile match rules in bounded time and memory: ${what}`, async () => {
    const other = { ...recorded as JsonObject, instructions: "Other" };
    const again = { ...recorded as JsonObject, user: "me" };
    const { statuses, memory } = await served(match, recorded, [other, again]);
    assert.ok((statuses[0] ?? 0) >= 400 && (statuses[0] ?? 0) < 500, "another request is a miss");
    assert.equal(statuses[1], 200, "the recorded one is played");
    assert.ok(memory < 1024 * KIB * KIB, `${memory} bytes`);
  });
}

Deno.test("serve answers other clients and ends on SIGTERM while patterns work on a long request", async () => {
  await using sandbox = new Sandbox();
  const server = sandbox.start([
    "serve",
    "--json",
    fixtureWith(`${sandbox.directory}/fixture`, replace("(?:a?){100}a{100}")),
  ]);
  await server.printed('"ready"');
  const { origin } = JSON.parse(server.stdout.split("\n", 1)[0] ?? "");
  const post = async (body: JsonValue) => {
    const answer = await fetch(`${origin}/v1/responses`, { method: "POST", body: JSON.stringify(body) });
    await answer.body?.cancel();
    return answer.status;
  };
  // Nine megabytes, with minutes of work if each string has a budget of its own.
  const tools = Array.from({ length: 150 }, (_, index) => `${"a".repeat(60_000)}${index}`);
  const long = post(ask("Hi", { tools })).catch(() => "ended");
  // The long request has arrived, and its answer takes longer than this.
  assert.equal(await Promise.race([long, new Promise((resolve) => setTimeout(resolve, 1500))]), undefined);
  const began = performance.now();
  assert.equal(await post(ask("Hi", { user: "me" })), 200);
  server.process.kill("SIGTERM");
  await server.ended();
  assert.ok(performance.now() - began < 15_000, `${performance.now() - began} ms`);
  assert.equal(await long, "ended");
});

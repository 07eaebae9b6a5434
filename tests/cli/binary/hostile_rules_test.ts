/** Fixtures of strangers with hostile match rules: bounded in time and memory. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import type { Json } from "../../support/files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { COMPLETED } from "../../support/raw_upstream.ts";

const KIB = 1024;
/** Most time for a request under hostile rules, on a slow and busy machine: without bounds, each takes hours. */
const MAX_MS = 60_000;

function ask(text: string, more: object = {}): Json {
  return { model: "gpt-5.6", input: [{ role: "user", content: text }], stream: true, ...more };
}

function fixtureWith(path: string, match: Json, request: Json = ask("Hi")): string {
  const exchanges = [{ request: { body: request }, body: COMPLETED }];
  return writeFixture(path, exchanges, { match, provider: "compatible" });
}

const replace = (pattern: string, text = "x"): Json => ({ replace: [{ pattern, with: text }] });

/** A running `serve` with a fixture under these rules. */
async function serving(sandbox: Sandbox, match: Json, recorded?: Json) {
  const server = sandbox.start([
    "serve",
    "--json",
    fixtureWith(`${sandbox.directory}/fixture`, match, recorded),
  ]);
  await server.printed('"ready"');
  const { origin } = JSON.parse(server.stdout.split("\n", 1)[0] ?? "");
  const post = async (body: Json) => {
    const init = { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(MAX_MS) };
    const answer = await fetch(`${origin}/v1/responses`, init);
    await answer.body?.cancel();
    return answer.status;
  };
  const end = () => {
    server.process.kill("SIGTERM");
    return server.ended();
  };
  return { pid: server.process.pid, post, end };
}

/** Peak memory of a process in bytes; Linux only. */
function memoryOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * KIB;
}

const LONG = `${"a".repeat(60 * KIB)}!`;
/** Recorded under the rules, and received with a difference that they do not take out. */
const BOUNDED: readonly (readonly [what: string, match: Json, recorded: Json])[] = [
  ["alternatives that overlap", replace("(a|aa|a?)*b"), ask(LONG)],
  [
    "paths that descend again and again",
    { ignore: Array.from({ length: 90 }, (_, index) => `$${"..a".repeat(15)}..m${index}`) },
    ask("Hi", { deep: nested(400), wide: Array.from({ length: 20_000 }, () => ({ a: { a: 1 } })) }),
  ],
];

function nested(depth: number): Json {
  let value: Json = { b: 1 };
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

for (const [what, match, recorded] of BOUNDED) {
  Deno.test(`serve answers under hostile match rules in bounded time and memory: ${what}`, async () => {
    await using sandbox = new Sandbox();
    const { pid, post, end } = await serving(sandbox, match, recorded);
    try {
      const status = await post({ ...recorded, instructions: "Other" });
      assert.ok(status >= 400 && status < 500, "another request is a miss");
      assert.equal(await post({ ...recorded, user: "me" }), 200, "the recorded one is played");
      assert.ok(memoryOf(pid) < 1024 * KIB * KIB, `${memoryOf(pid)} bytes`);
    } finally {
      await end();
    }
  });
}

Deno.test("serve answers other clients and ends on SIGTERM while patterns work on a long request", async () => {
  await using sandbox = new Sandbox();
  const { post, end } = await serving(sandbox, replace("(?:a?){100}a{100}"));
  // Nine megabytes, with minutes of work if each string has a budget of its own.
  const tools = Array.from({ length: 150 }, (_, index) => `${"a".repeat(60_000)}${index}`);
  let isOver = false;
  // However fast the machine is, one of them is under way: a request follows each answer.
  const clients = [1, 2].map(async () => {
    while (!isOver) {
      const status = await post(ask("Hi", { tools })).catch(() => "ended");
      if (status === "ended") return;
      assert.equal(status, 400);
    }
    assert.fail("The signal ended no request");
  });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const began = performance.now();
  assert.equal(await post(ask("Hi", { user: "me" })), 200);
  await end();
  assert.ok(performance.now() - began < 15_000, `${performance.now() - began} ms`);
  isOver = true;
  await Promise.all(clients);
});

/** `record --missing` with one recording for each test: each plays its own, and records what it lacks. */
import assert from "node:assert/strict";
import { bytesBelow } from "../../support/files.ts";
import { type RecordServer, TestFolder } from "../test_folder.ts";

/** Sends each input to its test, one after the other: `["a", 1]` to `/t/a`. */
async function sent(server: RecordServer, requests: readonly (readonly [string, unknown])[]) {
  const answers = [];
  for (const [test, input] of requests) answers.push(await server.post(`/t/${test}/v1/responses`, { input }));
  return answers;
}

Deno.test("record --missing plays and grows each test on its own, and sends what is new only", async () => {
  await using folder = new TestFolder();
  const first = await folder.record(["--missing"]);
  const answers = await sent(first, [["a", 1], ["b", 1], ["a", 2]]);
  assert.equal((await first.end()).code, 0);
  const before = bytesBelow(`${folder.out}/b`);
  assert.equal(folder.upstream.requests.length, 3);
  const second = await folder.record(["--missing"]);
  const again = await sent(second, [["a", 1], ["b", 1], ["a", 2], ["a", 3], ["c", 1], ["c", 1]]);
  assert.deepEqual(again.slice(0, 3), answers);
  const { code, events, stderr } = await second.end();
  assert.equal(code, 0, stderr);
  assert.equal(folder.upstream.requests.length, 6);
  assert.deepEqual([folder.inputs("a"), folder.inputs("c")], [[1, 2, 3], [1, 1]]);
  assert.deepEqual(bytesBelow(`${folder.out}/b`), before);
  const facts = events.filter(({ type }) => type === "played" || type === "exchange")
    .map(({ type, test, request, number, path }) => [type, test, request, number, path].join(" ")).sort();
  assert.deepEqual(facts, [
    "exchange a 3 3 /v1/responses",
    "exchange c 1 1 /v1/responses",
    "exchange c 2 2 /v1/responses",
    "played a 1 1 /v1/responses",
    "played a 2 2 /v1/responses",
    "played b 1 1 /v1/responses",
  ]);
  const { played, published, tests } = events.at(-1);
  assert.deepEqual([played, published, tests.length], [3, 3, 3]);
});

Deno.test("record --missing does not play what it recorded itself, even if the recording was closed meanwhile", async () => {
  await using folder = new TestFolder();
  const server = await folder.record(["--missing"]);
  // At most 32 recordings without a running request stay open.
  const others = Array.from({ length: 40 }, (_, index) => [`other-${index}`, 1] as const);
  await sent(server, [["a", 1], ...others, ["a", 1]]);
  const { code, stderr } = await server.end();
  assert.equal(code, 0, stderr);
  assert.deepEqual(folder.inputs("a"), [1, 1]);
  assert.equal(folder.upstream.requests.length, 42);
});

Deno.test("under CI record --missing plays tests, misses those without a recording, and writes nothing", async () => {
  await using folder = new TestFolder();
  const first = await folder.record();
  const answers = await sent(first, [["a", 1]]);
  await first.end();
  const before = bytesBelow(folder.out);
  const { accepted } = folder.upstream;
  const server = await folder.record(["--missing"], { env: { CI: "true" } });
  const [played, changed, unknown] = await sent(server, [["a", 1], ["a", 2], ["new", 1]]);
  assert.deepEqual([played], answers);
  for (const missed of [changed, unknown]) {
    assert.deepEqual([missed?.status, missed?.answer.error.code], [400, "fixture_miss"]);
  }
  const { code, events } = await server.end();
  assert.equal(code, 7);
  const misses = events.filter(({ type }) => type === "miss").map(({ test, message }) => [test, message]);
  assert.deepEqual(misses.map(([test]) => test), ["a", "new"]);
  assert.match(misses[0]?.[1], /differs at input: recorded 1, received 2/);
  assert.match(misses[1]?.[1], /Test "new" has no recording .* no fixture is at ".*suite\/new"/);
  const { code: failure, message: why } = events.at(-2);
  assert.deepEqual([failure, /^Cannot record 2 requests: CI is set/.test(why)], ["fixture_miss", true]);
  assert.deepEqual(bytesBelow(folder.out), before);
  assert.deepEqual([folder.names(), folder.upstream.accepted], [["a"], accepted]);
});

Deno.test("record --missing --dry-run counts the exchanges of all tests in a folder", async () => {
  await using folder = new TestFolder();
  const first = await folder.record();
  await sent(first, [["a", 1], ["b", 1], ["b", 2]]);
  await first.end();
  const args = [
    "record",
    "--missing",
    "--dry-run",
    "--upstream",
    folder.upstream.origin,
    "--out",
    folder.out,
  ];
  const { code, stdout } = await folder.call(args);
  assert.equal(code, 0);
  assert.match(stdout, /play the 3 exchanges of 2 tests in ".*suite"/);
});

Deno.test("record --missing lets the API itself judge a request that breaks one of its rules", async () => {
  await using folder = new TestFolder();
  const output = { type: "function_call_output", call_id: "call_that_no_answer_issued", output: "" };
  const first = await folder.record();
  await sent(first, [["a", [{ role: "user", content: "hi" }]]]);
  await first.end();
  const server = await folder.record(["--missing"]);
  const [answer] = await sent(server, [["a", [{ role: "user", content: "hi" }, output]]]);
  assert.equal(answer?.status, 200);
  assert.equal((await server.end()).code, 0);
  assert.equal(folder.inputs("a").length, 2);
});

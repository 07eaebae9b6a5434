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

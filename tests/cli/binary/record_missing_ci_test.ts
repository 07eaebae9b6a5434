/** `record --missing` under CI: what is recorded plays without a key, and nothing is sent unless it is allowed. */
import assert from "node:assert/strict";
import { bytesBelow } from "../../support/files.ts";
import { CANARY, gotIn, GrowingSuite } from "../growing_suite.ts";

const WITHOUT_KEY = { OPENAI_API_KEY: "" };

Deno.test("under CI record --missing answers what is missing with a miss, and connects to no upstream", async () => {
  await using suite = new GrowingSuite();
  const [first] = await suite.recorded([], ["What is the capital of France?"]);
  const before = bytesBelow(suite.out);
  const { accepted } = suite.upstream;
  for (const CI of ["true", "1", "no"]) {
    const tests = ["What is the capital of France?", "What is the capital of Spain?"];
    const called = await suite.record(["--missing"], tests, { env: { CI, ...WITHOUT_KEY } });
    assert.equal(called.code, 7, called.stderr);
    const [played, missed] = gotIn(called);
    assert.deepEqual(played, first);
    const { error } = JSON.parse(missed?.body ?? "");
    assert.deepEqual([missed?.status, missed?.retry, error.code], [400, "false", "fixture_miss"]);
    assert.match(error.message, /differs from the nearest, exchange 1, at input/);
    const [, miss, failed] = suite.events();
    assert.deepEqual([miss.type, miss.request, miss.nearest.number, miss.differences.length], [
      "miss",
      2,
      1,
      1,
    ]);
    assert.match(miss.message, /recorded ".*France\?", received ".*Spain\?".*record --missing --allow-live/);
    assert.deepEqual([failed.type, failed.code, failed.exit_code], ["error", "fixture_miss", 7]);
    assert.deepEqual([suite.ended().played, suite.ended().missed, suite.ended().published], [1, 1, 0]);
    assert.match(
      called.stderr,
      /error: Cannot record 1 request: CI is set, so nothing is sent\nhint: .*--allow-live/,
    );
    assert.deepEqual(bytesBelow(suite.out), before);
  }
  assert.equal(suite.upstream.accepted, accepted, "no connection is made");
});

Deno.test("under CI record --missing plays a whole suite without a key and without writing, and ends with 0", async () => {
  await using suite = new GrowingSuite();
  const first = await suite.recorded([], ["a", "b"]);
  const { accepted } = suite.upstream;
  // A running recorder keeps others from writing, and not from reading.
  Deno.mkdirSync(`${suite.out}/.recording`);
  Deno.writeTextFileSync(`${suite.out}/.recording/lock`, "");
  const before = bytesBelow(suite.out);
  const got = await suite.recorded(["--missing"], ["a", "b"], { env: { CI: "true", ...WITHOUT_KEY } });
  assert.deepEqual([got, bytesBelow(suite.out)], [first, before]);
  assert.equal(suite.upstream.accepted, accepted);
});

Deno.test("a CI variable that is empty, 0 or false lets record --missing send", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a"]);
  for (const CI of ["", "0", "false"]) {
    await suite.recorded(["--missing"], ["a", `new ${CI}`], { env: { CI } });
  }
  assert.deepEqual(suite.inputs, ["a", "new ", "new 0", "new false"]);
});

Deno.test("under CI record --missing --allow-live records the rest with the real key", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a"]);
  await suite.recorded(["--missing", "--allow-live"], ["a", "b"], { env: { CI: "true" } });
  assert.deepEqual(suite.inputs, ["a", "b"]);
  assert.equal(suite.upstream.requests.length, 2);
  assert.match(suite.upstream.requests[1]?.head ?? "", new RegExp(`authorization: Bearer ${CANARY}`, "i"));
});

Deno.test("under CI an API of the fixture has its port and a dummy key, although no variable names it", async () => {
  await using suite = new GrowingSuite();
  const { sandbox, upstream, out } = suite;
  const script = `
    const [url, key] = ["GROQ_BASE_URL", "GROQ_API_KEY"].map((name) => Deno.env.get(name));
    const headers = { authorization: "Bearer " + key };
    const body = JSON.stringify({ model: "m", input: "a", stream: true });
    const response = await fetch(url + "/openai/v1/responses", { method: "POST", headers, body });
    console.log(response.status, key, (await response.text()).length > 100);`;
  const command = ["--", Deno.execPath(), "eval", "--quiet", script];
  const env = { GROQ_BASE_URL: upstream.origin, GROQ_API_KEY: CANARY };
  const recorded = await sandbox.call(["record", "--out", out, ...command], { env });
  assert.deepEqual([recorded.code, recorded.stdout], [0, `200 ${CANARY} true\n`], recorded.stderr);
  const { accepted } = upstream;
  const played = await sandbox.call(["record", "--missing", "--out", out, ...command], { env: { CI: "1" } });
  assert.deepEqual([played.code, played.stdout], [0, "200 reprise-plays-this true\n"], played.stderr);
  assert.equal(upstream.accepted, accepted);
});

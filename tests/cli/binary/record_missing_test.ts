/** `record --missing`: what is recorded is played, and only the rest goes to the API, under CI not even that. */
import assert from "node:assert/strict";
import { askRaw } from "../../doors/recordings/raw_http.ts";
import { bytesBelow, textsBelow } from "../../support/files.ts";
import { CANARY, ERROR_BODY, gotIn, linesOf, Wrapping } from "./wrapping.ts";

const CI = { CI: "true", OPENAI_API_KEY: "" };

Deno.test("record --missing sends one request when a suite got one more test, and keeps its exchange", async () => {
  await using suite = new Wrapping();
  const first = await suite.recorded(["--missing"], ["a", "b"]);
  const { created } = suite.header;
  const second = await suite.recorded(["--missing"], ["a", "new", "b"]);
  assert.equal(suite.upstream.requests.length, 3, "exactly one request goes out");
  assert.match(suite.upstream.requests[2]?.head ?? "", new RegExp(`authorization: Bearer ${CANARY}`, "i"));
  assert.deepEqual([second[0], second[2]], first);
  assert.match(second[1]?.body ?? "", /"delta":"new 3"/);
  assert.deepEqual(suite.inputs, ["a", "b", "new"]);
  assert.deepEqual(suite.header.recordings.map(({ exchanges }: { exchanges: unknown }) => exchanges), [
    [1, 2],
    [3, 3],
  ]);
  assert.equal(suite.header.created, created);
  // An exchange is reported when its files are written, and its client has the answer before.
  const facts = suite.events.slice(1, -1)
    .map(({ type, request, number, tier }) => `${request} ${type} ${number} ${tier}`).sort();
  assert.deepEqual(facts, ["1 played 1 exact", "2 exchange 3 undefined", "3 played 2 exact"]);
  const { published, played, missed, error_answers } = suite.ended;
  assert.deepEqual([published, played, missed, error_answers], [1, 2, 0, 0]);
  const env = { OPENAI_API_KEY: "x" };
  assert.deepEqual(gotIn(await suite.around(["serve", suite.out], ["a", "new", "b"], { env })), second);
  for (const [name, text] of textsBelow(suite.directory)) {
    assert.ok(!text.includes(CANARY), `${name} holds the key`);
  }
});

Deno.test("equal requests at the same time get one recorded answer, and the others are recorded", async () => {
  await using suite = new Wrapping();
  await suite.recorded([], ["a", "b"]);
  const got = await suite.recorded(["--missing"], ["a+a+a+b"]);
  const types = suite.events.slice(1, -1).map(({ type }) => type).sort();
  assert.deepEqual(types, ["exchange", "exchange", "played", "played"]);
  assert.equal(suite.upstream.requests.length, 4);
  assert.equal(new Set(got.map(({ body }) => body)).size, 4);
  assert.deepEqual(suite.inputs, ["a", "b", "a", "a"]);
});

Deno.test("record --missing passes errors of the API on byte for byte, keeps none, and ends with 7", async () => {
  await using suite = new Wrapping();
  await suite.recorded([], ["a"]);
  const before = bytesBelow(suite.out);
  // 400 is the first status of an error.
  const statuses = [400, 401, 500];
  const called = await suite.record(["--missing"], ["a", ...statuses.map((status) => `error-${status}`)]);
  assert.equal(called.code, 7, called.stderr);
  const [, ...errors] = gotIn(called);
  assert.deepEqual(errors, statuses.map((status) => ({ status, body: ERROR_BODY, retry: null })));
  assert.deepEqual(bytesBelow(suite.out), before);
  const dropped = suite.events.filter(({ type }) => type === "exchange");
  assert.deepEqual(
    dropped.map(({ state, reason, status }) => [state, reason, status]),
    statuses.map((status) => ["dropped", "error_answer", status]),
  );
  assert.deepEqual([suite.ended.error_answers, suite.ended.dropped], [3, 3]);
  assert.match(
    called.stderr,
    /not recorded: request 3, POST \/v1\/responses 401: the API did not accept its key/,
  );
  assert.match(called.stderr, /not recorded: request 4, POST \/v1\/responses 500: the API answered with an/);
  assert.match(called.stderr, /error: Cannot keep 3 exchanges: the API answered with an error/);
});

Deno.test("record --missing asks again for a stream that broke off, unless --keep-cut kept it", async () => {
  await using suite = new Wrapping();
  await suite.recorded([], ["a"]);
  const cut = await suite.record(["--missing"], ["a", "cut-1"]);
  assert.deepEqual([cut.code, suite.inputs, gotIn(cut)[1]?.status], [7, ["a"], 0], cut.stderr);
  await suite.recorded(["--missing", "--keep-cut"], ["a", "cut-1"]);
  assert.deepEqual(suite.inputs, ["a", "cut-1"]);
  const requests = suite.upstream.requests.length;
  assert.equal((await suite.recorded(["--missing"], ["cut-1"]))[0]?.status, 0);
  assert.equal(suite.upstream.requests.length, requests);
});

Deno.test("record --missing without a command plays for any client until SIGTERM, and then keeps what is new", async () => {
  await using suite = new Wrapping();
  const [first] = await suite.recorded([], ["a"]);
  const { origin: upstream } = suite.upstream;
  const where = ["--missing", "--json", "--upstream", upstream, "--out", suite.out];
  const started = suite.start(["record", ...where]);
  await started.printed('"ready"');
  const { origin } = linesOf(started.stdout)[0];
  const ask = async (input: string) => {
    const body = JSON.stringify({ model: "m", input, stream: true });
    const headers = { "content-type": "application/json", authorization: `Bearer ${CANARY}` };
    return await (await fetch(`${origin}/v1/responses`, { method: "POST", headers, body })).text();
  };
  assert.equal(await ask("a"), first?.body);
  await ask("b");
  await started.printed('"exchange"');
  assert.equal((await fetch(origin, { method: "HEAD" })).status, 200, "a connection check");
  const upgrade =
    "GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assert.deepEqual((await askRaw(Number(new URL(origin).port), upgrade)).statuses, [426]);
  await started.printed('"websocket_upgrade"');
  started.process.kill("SIGTERM");
  const { code, stdout, stderr } = await started.ended();
  assert.equal(code, 0, stderr);
  const types = linesOf(stdout).map(({ type }) => type);
  assert.deepEqual(types, ["ready", "played", "exchange", "skipped", "skipped", "record.ended"]);
  assert.deepEqual(suite.inputs, ["a", "b"]);
  assert.equal(suite.upstream.requests.length, 2, "neither the check nor the upgrade goes out");
});

Deno.test("under CI record --missing answers what is missing with a miss, and connects to no upstream", async () => {
  await using suite = new Wrapping();
  const [first] = await suite.recorded([], ["What is the capital of France?"]);
  const { accepted } = suite.upstream;
  // A running recorder keeps others from writing, and not from reading.
  Deno.mkdirSync(`${suite.out}/.recording`);
  Deno.writeTextFileSync(`${suite.out}/.recording/lock`, "");
  const before = bytesBelow(suite.out);
  const tests = ["What is the capital of France?", "What is the capital of Spain?"];
  assert.deepEqual(await suite.recorded(["--missing"], tests.slice(0, 1), { env: CI }), [first]);
  const called = await suite.record(["--missing"], tests, { env: CI });
  assert.equal(called.code, 7, called.stderr);
  const [played, missed] = gotIn(called);
  assert.deepEqual(played, first);
  const { error } = JSON.parse(missed?.body ?? "");
  assert.deepEqual([missed?.status, missed?.retry, error.code], [400, "false", "fixture_miss"]);
  assert.match(error.message, /differs from the nearest, exchange 1, at input/);
  const miss = suite.events.find(({ type }) => type === "miss");
  assert.deepEqual([miss.request, miss.nearest.number, miss.differences.length], [2, 1, 1]);
  assert.match(
    miss.message,
    /recorded ".*France\?"\n *received ".*Spain\?"\n *\^+\n.*record --missing --allow-live/,
  );
  assert.deepEqual([suite.ended.played, suite.ended.missed, suite.ended.published], [1, 1, 0]);
  assert.match(
    called.stderr,
    /error: Cannot record 1 request: CI is set, so nothing is sent\nhint: .*--allow-live/,
  );
  assert.deepEqual(bytesBelow(suite.out), before);
  assert.equal(suite.upstream.accepted, accepted, "no connection is made");
});

Deno.test("a CI variable that is empty, 0 or false lets record --missing send, and so does --allow-live", async () => {
  await using suite = new Wrapping();
  await suite.recorded([], ["a"]);
  for (const value of ["", "0", "false"]) {
    await suite.recorded(["--missing"], ["a", `new ${value}`], { env: { CI: value } });
  }
  await suite.recorded(["--missing", "--allow-live"], ["live"], { env: { CI: "yes" } });
  assert.deepEqual(suite.inputs, ["a", "new ", "new 0", "new false", "live"]);
  assert.match(suite.upstream.requests[4]?.head ?? "", new RegExp(`authorization: Bearer ${CANARY}`, "i"));
});

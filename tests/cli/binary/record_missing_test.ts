/** `record --missing`: what is recorded is played, and only the rest goes to the API. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { bytesBelow, textsBelow } from "../../support/files.ts";
import { askRaw } from "../../doors/recordings/raw_http.ts";
import { CANARY, ERROR_BODY, gotIn, GrowingSuite } from "../growing_suite.ts";

Deno.test("record --missing sends one request when a suite got one more test, and keeps its exchange", async () => {
  await using suite = new GrowingSuite();
  const first = await suite.recorded(["--missing"], ["a", "b"]);
  assert.deepEqual([suite.inputs, suite.upstream.requests.length], [["a", "b"], 2]);
  const before = readFixture(denoFiles, suite.out).header;
  const second = await suite.recorded(["--missing"], ["a", "new", "b"]);
  assert.equal(suite.upstream.requests.length, 3, "exactly one request goes out");
  assert.match(suite.upstream.requests[2]?.head ?? "", new RegExp(`authorization: Bearer ${CANARY}`, "i"));
  assert.deepEqual([second[0], second[2]], first);
  assert.match(second[1]?.body ?? "", /"delta":"new 3"/);
  assert.deepEqual(suite.inputs, ["a", "b", "new"]);
  const { header } = readFixture(denoFiles, suite.out);
  assert.deepEqual(header.recordings?.map(({ exchanges }) => exchanges), [[1, 2], [3, 3]]);
  assert.equal(header.created, before.created);
  // An exchange is reported when its files are written, and its client has the answer before.
  const events = suite.events().map(({ type, request, number, tier }) => ({ type, request, number, tier }))
    .sort((a, b) => a.request - b.request);
  assert.deepEqual(events, [
    { type: "played", request: 1, number: 1, tier: "exact" },
    { type: "exchange", request: 2, number: 3, tier: undefined },
    { type: "played", request: 3, number: 2, tier: "exact" },
  ]);
  const { published, played, missed, error_answers } = suite.ended();
  assert.deepEqual({ published, played, missed, error_answers }, {
    ...{ published: 1, played: 2, missed: 0, error_answers: 0 },
  });
  assert.deepEqual(await suite.served(["a", "new", "b"]), second);
  for (const [name, text] of textsBelow(suite.sandbox.directory)) {
    assert.ok(!text.includes(CANARY), `${name} holds the key`);
  }
});

Deno.test("equal requests at the same time get one recorded answer, and the others are recorded", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a", "b"]);
  const got = await suite.recorded(["--missing"], ["a+a+a+b"]);
  const types = suite.events().map(({ type }) => type).sort();
  assert.deepEqual(types, ["exchange", "exchange", "played", "played"]);
  assert.equal(suite.upstream.requests.length, 4);
  assert.equal(new Set(got.map(({ body }) => body)).size, 4);
  assert.deepEqual(suite.inputs, ["a", "b", "a", "a"]);
});

Deno.test("record --missing passes errors of the API on byte for byte, keeps none, and ends with 7", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a"]);
  const before = bytesBelow(suite.out);
  const statuses = [400, 401, 429, 500];
  const called = await suite.record(["--missing"], ["a", ...statuses.map((status) => `error-${status}`)]);
  assert.equal(called.code, 7, called.stderr);
  const [, ...errors] = gotIn(called);
  assert.deepEqual(errors, statuses.map((status) => ({ status, body: ERROR_BODY, retry: null })));
  assert.deepEqual(bytesBelow(suite.out), before);
  const dropped = suite.events().filter(({ type }) => type === "exchange");
  assert.deepEqual(
    dropped.map(({ state, reason, status }) => ({ state, reason, status })),
    statuses.map((status) => ({ state: "dropped", reason: "error_answer", status })),
  );
  assert.equal(suite.events().at(-1).code, "not_kept");
  assert.deepEqual([suite.ended().error_answers, suite.ended().dropped], [4, 4]);
  assert.match(
    called.stderr,
    /not recorded: request 4, POST \/v1\/responses 429: the API answered with an error/,
  );
  assert.match(called.stderr, /error: Cannot keep 4 exchanges: the API answered with an error/);
});

Deno.test("record --missing asks again for a stream that broke off, unless --keep-cut kept it", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a"]);
  const cut = await suite.record(["--missing"], ["a", "cut-1"]);
  assert.equal(cut.code, 7, cut.stderr);
  assert.deepEqual([suite.inputs, gotIn(cut)[1]?.status], [["a"], 0]);
  await suite.recorded(["--missing", "--keep-cut"], ["a", "cut-1"]);
  assert.deepEqual(suite.inputs, ["a", "cut-1"]);
  const requests = suite.upstream.requests.length;
  assert.equal((await suite.recorded(["--missing"], ["cut-1"]))[0]?.status, 0);
  assert.equal(suite.upstream.requests.length, requests);
});

Deno.test("record --missing refuses a damaged fixture, a session test, and a folder of something else", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a"]);
  const { out } = suite;
  Deno.writeTextFileSync(`${out}/exchanges/0001/body`, "changed\n", { append: true });
  const damaged = await suite.record(["--missing"], ["a"]);
  assert.deepEqual([damaged.code, /checksum differs/.test(damaged.stderr)], [2, true], damaged.stderr);
  Deno.writeTextFileSync(`${out}/session.json`, "{}");
  assert.match((await suite.record(["--missing"], ["a"])).stderr, /session\.json, so it is a session test/);
  Deno.removeSync(out, { recursive: true });
  Deno.mkdirSync(out);
  Deno.writeTextFileSync(`${out}/notes.txt`, "");
  const other = await suite.record(["--missing"], ["a"]);
  assert.deepEqual([other.code, /it is not empty/.test(other.stderr)], [2, true], other.stderr);
  assert.equal(suite.upstream.requests.length, 1);
});

Deno.test("record --missing --dry-run reports how many exchanges are there, and starts nothing", async () => {
  await using suite = new GrowingSuite();
  await suite.recorded([], ["a", "b"]);
  const before = bytesBelow(suite.out);
  const { code, stdout } = await suite.record(["--missing", "--dry-run"], ["a"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /play the 2 exchanges in ".*",\nforward other requests to http.*, and keep them there/,
  );
  const json = await suite.record(["--missing", "--dry-run", "--json"], ["a"]);
  const { type, before: there, sends } = JSON.parse(json.stdout);
  assert.deepEqual({ type, there, sends }, { type: "dry_run", there: 2, sends: true });
  const inCi = await suite.record(["--missing", "--dry-run"], ["a"], { env: { CI: "true" } });
  assert.match(inCi.stdout, /and answer other requests with a miss: CI is set/);
  assert.deepEqual(bytesBelow(suite.out), before);
});

/** A server of `record --missing` for any client, and its port. */
async function listening(suite: GrowingSuite) {
  const { sandbox, out, upstream } = suite;
  const started = sandbox.start([
    "record",
    "--missing",
    "--json",
    "--upstream",
    upstream.origin,
    "--out",
    out,
  ]);
  await started.printed('"ready"');
  const { origin } = JSON.parse(started.stdout.split("\n")[0] ?? "");
  const ask = async (input: string) => {
    const body = JSON.stringify({ model: "m", input, stream: true });
    const headers = { "content-type": "application/json", authorization: `Bearer ${CANARY}` };
    return await (await fetch(`${origin}/v1/responses`, { method: "POST", headers, body })).text();
  };
  return { started, origin: origin as string, ask };
}

Deno.test("record --missing without a command plays for any client until SIGTERM, and then keeps what is new", async () => {
  await using suite = new GrowingSuite();
  const [first] = await suite.recorded([], ["a"]);
  const { started, origin, ask } = await listening(suite);
  assert.equal(await ask("a"), first?.body);
  await ask("b");
  await started.printed('"exchange"');
  assert.equal((await fetch(origin, { method: "HEAD" })).status, 200, "a connection check");
  const upgrade =
    "GET /v1/responses HTTP/1.1\nHost: 127.0.0.1:PORT\nConnection: close, Upgrade\nUpgrade: websocket\n\n";
  assert.deepEqual((await askRaw(Number(new URL(origin).port), upgrade)).statuses, [426]);
  await started.printed('"websocket_upgrade"');
  started.process.kill("SIGTERM");
  const { code, stdout, stderr } = await started.ended();
  assert.equal(code, 0, stderr);
  const types = stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).map(({ type }) => type);
  assert.deepEqual(types, ["ready", "played", "exchange", "skipped", "skipped", "record.ended"]);
  assert.deepEqual(suite.inputs, ["a", "b"]);
  assert.equal(suite.upstream.requests.length, 2, "neither the check nor the upgrade goes out");
});

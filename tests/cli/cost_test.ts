/** Costs and budgets: computed when they are shown, `null` when unknown, and the ends of runs that spend too much. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { says, startMessagesServer, text } from "../support/messages_server.ts";
import { type Called, ending, Sandbox } from "../support/reprise.ts";
import { assertError, configure, KEY, Place, READS_A } from "./harness.ts";

/** Counts of the first request in the recording test_openai_responses_prompt_cache_e2e, and of the second. */
const WRITES = {
  input_tokens: 4020,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 4012 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 4025,
};
const READS = { ...WRITES, input_tokens_details: { cached_tokens: 4012, cache_write_tokens: 0 } };
/** Their costs with the list prices of gpt-5.6. */
const WRITES_COST = 0.020192;
const READS_COST = 0.0017368;
const BOTH_COST = 0.0219288;

const TWO_REQUESTS = [
  answer([functionCall("read_file", { path: "a.txt", offset: null, limit: null })], { usage: WRITES }),
  answer([message("Done.")], { usage: READS }),
];

async function parsed(place: Place, ...args: readonly string[]) {
  const called = await place.call([...args, "--json"]);
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return JSON.parse(called.stdout);
}

function costOf(called: Called): number | null {
  return ending(called).cost_usd;
}

test("a run, show, stats and ls agree about the cost: by request, run, session, model and day", async () => {
  await using place = new Place(TWO_REQUESTS);
  const called = await place.call(["run", "--json", "--new", "-s", "s", "Look"]);
  assert.equal(called.code, 0, called.stdout);
  assert.equal(costOf(called), BOTH_COST);
  const tokens = {
    input_tokens: 8040,
    cached_tokens: 4012,
    cache_write_tokens: 4012,
    output_tokens: 10,
    reasoning_tokens: 0,
  };
  const sum = { requests: 2, ...tokens, cost_usd: BOTH_COST, unpriced: 0 };
  const { spending } = await parsed(place, "show", "s");
  const { session, ...stats } = await parsed(place, "stats", "s");
  assert.equal(session, "s");
  assert.deepEqual(stats, spending);
  assert.deepEqual(stats.total, sum);
  assert.deepEqual(stats.runs, [{ run: 1, ...sum }]);
  assert.deepEqual(stats.models, [{ model: "gpt-5.6", ...sum }]);
  assert.deepEqual(stats.days.length, 1);
  assert.deepEqual(stats.requests.map(({ turn, cost_usd }: JsonObject) => [turn, cost_usd]), [
    [2, WRITES_COST],
    [4, READS_COST],
  ]);
  const all = await parsed(place, "stats");
  assert.deepEqual([all.total, all.sessions], [sum, [{ session: "s", ...sum }]]);
  const { stdout: transcript } = await place.call(["show", "s"]);
  assert.match(transcript, /── 2 · run 1 · model · .* · gpt-5\.6 · \$0\.0202\n/);
  assert.match(transcript, /^cost +\$0\.0219$/m);
  assert.match((await place.call(["show", "s", "--markdown"])).stdout, /\| Cost \| \$0\.0219 \|/);
  assert.match((await place.call(["stats", "s"])).stdout, /8040 input \(4012 cached, 4012 written\)/);
});

test("turns that a fork shares with its parent count once", async () => {
  await using place = new Place([...TWO_REQUESTS, answer([message("Again.")], { usage: READS })]);
  await place.call(["run", "--json", "--new", "-s", "s", "Look"]);
  const fork = JSON.parse((await place.call(["fork", "s", "--json"])).stdout).session;
  const called = await place.call(["run", "--json", "-s", fork, "More"]);
  assert.equal(called.code, 0, called.stdout);
  const stats = await parsed(place, "stats", fork);
  assert.equal(stats.total.cost_usd, READS_COST);
  assert.equal(stats.shared.cost_usd, BOTH_COST);
  const all = await parsed(place, "stats");
  assert.deepEqual([all.total.requests, all.total.cost_usd], [3, 0.0236656]);
  const costs = Object.fromEntries(
    all.sessions.map(({ session, cost_usd }: JsonObject) => [session, cost_usd]),
  );
  assert.deepEqual(costs, { s: BOTH_COST, [fork]: READS_COST });
});

test("an unknown price is null, and the configuration sets one", async () => {
  await using place = new Place(() => answer([message("Hi.")], { usage: READS }));
  const run = ["run", "--json", "--new", "-m", "my-model", "Hi"];
  assert.equal(costOf(await place.call(run)), null);
  const unpriced = await parsed(place, "stats");
  assert.deepEqual([unpriced.total.cost_usd, unpriced.total.unpriced], [null, 1]);
  configure(place.sandbox, { prices: { "my-model": { input: 1, cached: 0.5, output: 100 } } });
  assert.equal(costOf(await place.call(run)), (8 + 4012 * 0.5 + 500) / 1e6);
  configure(place.sandbox, { prices: { "my-model": { input: "1" } } });
  assertError(await place.call(run), { code: "bad_configuration", exit: 2, says: /"prices" of "my-model"/ });
});

test("the cost of the Messages API counts its cache reads and writes", async () => {
  await using sandbox = new Sandbox();
  const usage = {
    input_tokens: 1000,
    cache_creation_input_tokens: 3000,
    cache_read_input_tokens: 6000,
    output_tokens: 500,
  };
  await using server = startMessagesServer({ script: () => says([text("Hi.")], { usage }), key: KEY });
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.baseUrl };
  const called = await sandbox.call(
    ["run", "--json", "-p", "anthropic", "-m", "claude-sonnet-4-5", "--max-cost", "1", "Hi"],
    { env },
  );
  assert.equal(called.code, 0, called.stdout);
  assert.equal(costOf(called), (1000 * 3 + 6000 * 0.3 + 3000 * 3.75 + 500 * 15) / 1e6);
  assert.equal(ending(called).usage.cache_write_tokens, 3000);
});

test("--max-cost with an unknown price exits with 2 before the first request, and creates no session", async () => {
  await using place = new Place([]);
  const error = assertError(
    await place.call(["run", "--json", "--new", "-m", "no-such-model", "--max-cost", "1", "Hi"]),
    { code: "unknown_price", exit: 2, says: /"no-such-model"/, hint: /prices.*--max-tokens/ },
  );
  assert.deepEqual(error.details, { provider: "openai", model: "no-such-model" });
  assert.equal(place.server.requests.length, 0);
  assert.deepEqual((await parsed(place, "ls")).sessions, []);
});

test("--max-cost clamps the output of each request to what is left, and ends the run with what was spent", async () => {
  await using place = new Place(() => READS_A);
  // The usage of each response: 120 input and 40 output tokens, $0.00128.
  const called = await place.call(["run", "--json", "--new", "--max-cost", "0.002", "Look"]);
  const error = assertError(called, {
    code: "over_budget",
    exit: 4,
    says:
      /\$0\.0026 of \$0\.0020 is spent \(--max-cost\); the run spent 240 input tokens and 80 output tokens, \$0\.0026/,
  });
  assert.deepEqual(place.server.requests.map(({ body }) => (body as JsonObject).max_output_tokens), [
    100,
    36,
  ]);
  assert.equal((error.details as JsonObject).cost_usd, 0.00256);
  assert.equal(costOf(called), 0.00256);
});

test("a played fixture costs nothing that is known: the cost is null, and --max-cost has no effect", async () => {
  await using sandbox = new Sandbox();
  const fixture = new URL("../../fixtures/demo/first", import.meta.url).pathname;
  const called = await sandbox.call([
    ...["run", "--json", "--new", "-s", "demo", "--fixture", fixture, "--match", "sequence"],
    ...["--max-cost", "0.0001", "Look"],
  ]);
  assert.equal(costOf(called), null);
  const stats = JSON.parse((await sandbox.call(["stats", "demo", "--json"])).stdout);
  assert.equal(stats.total.cost_usd, null);
  assert.ok(stats.total.input_tokens > 0);
});

test("--record and --max-cost exclude each other: a replay would send other requests", async () => {
  await using place = new Place([]);
  assertError(
    await place.call([
      "run",
      "--json",
      "--record",
      `${place.sandbox.directory}/kept`,
      "--max-cost",
      "1",
      "Hi",
    ]),
    { code: "usage", exit: 2, says: /--record and --max-cost/ },
  );
});

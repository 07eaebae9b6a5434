/** Costs, budgets and counts: what was spent, `null` when unknown, the ends of runs that spend too much, and their nouns. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, message } from "../support/scripted_api/responses.ts";
import { read } from "../support/calls.ts";
import { ending, Sandbox } from "../support/reprise.ts";
import { assertError, configure, json, ok, Place, READS_A } from "./harness.ts";

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
  answer([read("a.txt")], { usage: WRITES }),
  answer([message("Done.")], { usage: READS }),
];
const RUN = ["run", "--json", "--new", "-s", "s"];

test("a run, show, stats and ls agree about the cost: by request, run, session, model and day", async () => {
  await using place = new Place(TWO_REQUESTS);
  assert.equal(ending(await place.call([...RUN, "Look"])).cost_usd, BOTH_COST);
  const tokens = {
    ...{ input_tokens: 8040, cached_tokens: 4012, cache_write_tokens: 4012 },
    ...{ output_tokens: 10, reasoning_tokens: 0 },
  };
  const cost = { cost_usd: BOTH_COST, known_cost_usd: BOTH_COST, unpriced: 0 };
  const sum = { requests: 2, uncounted: 0, ...tokens, ...cost };
  const { spending } = await json(place, ["show", "s"]);
  const { session, ...stats } = await json(place, ["stats", "s"]);
  assert.deepEqual([session, stats], ["s", spending]);
  assert.deepEqual(stats.total, sum);
  assert.deepEqual(stats.runs, [{ run: 1, ...sum }]);
  assert.deepEqual(stats.models, [{ model: "gpt-5.6", ...sum }]);
  assert.deepEqual(stats.days.length, 1);
  const requests = stats.requests.map(({ turn, cost_usd }: Json) => [turn, cost_usd]);
  assert.deepEqual(requests, [[2, WRITES_COST], [4, READS_COST]]);
  const all = await json(place, ["stats"]);
  assert.deepEqual([all.total, all.sessions], [sum, [{ session: "s", ...sum }]]);
  const transcript = await ok(place, ["show", "s"]);
  assert.match(transcript, /── 2 · run 1 · model · .* · gpt-5\.6 · \$0\.0202\n/);
  assert.match(transcript, /^cost +\$0\.0219$/m);
  assert.match(await ok(place, ["show", "s", "--markdown"]), /\| Cost \| \$0\.0219 \|/);
  assert.match(await ok(place, ["stats", "s"]), /8040 input \(4012 cached, 4012 written\)/);
});

test("tokens that a server does not count are unknown", async () => {
  const none = { input_tokens: null, cached_tokens: null, output_tokens: null, reasoning_tokens: null };
  const replies = [answer([message("Hi.")], { usage: {} }), answer([message("Ho.")], { usage: WRITES })];
  await using place = new Place(replies);
  const first = ending(await place.call([...RUN, "Look"]));
  assert.deepEqual(first.usage, { ...none, cache_write_tokens: null, uncounted: 1 });
  assert.equal(first.cost_usd, null);
  assert.deepEqual((await json(place, ["ls"])).sessions[0].usage, { ...none, uncounted: 1 });
  assert.match(await ok(place, ["ls"]), / unknown +completed/);
  assert.match(await ok(place, ["stats", "s"]), /^s: 1 request · tokens unknown · cost unknown$/m);
  const second = ending(await place.call(["run", "--json", "-s", "s", "Again"]));
  assert.deepEqual([second.usage.input_tokens, second.usage.uncounted], [4020, undefined]);
  assert.match(
    await ok(place, ["stats", "s"]),
    /^s: 2 requests, 1 not counted · 4020 input \(.* · at least \$0\.0202$/m,
  );
  const { total } = await json(place, ["stats", "s"]);
  assert.deepEqual([total.cost_usd, total.known_cost_usd, total.unpriced], [null, WRITES_COST, 1]);
  assert.match(await ok(place, ["show", "s"]), /^cost +at least \$0\.0202: 1 request of 2 without a price$/m);
  assert.equal((await place.call(["fsck", "--all"])).code, 0);
});

test("turns that a fork shares with its parent count once", async () => {
  await using place = new Place([...TWO_REQUESTS, answer([message("Again.")], { usage: READS })]);
  await place.session("s");
  const fork = (await json(place, ["fork", "s"])).session;
  await ok(place, ["run", "--json", "-s", fork, "More"]);
  const stats = await json(place, ["stats", fork]);
  assert.deepEqual([stats.total.cost_usd, stats.shared.cost_usd], [READS_COST, BOTH_COST]);
  const all = await json(place, ["stats"]);
  assert.deepEqual([all.total.requests, all.total.cost_usd], [3, 0.0236656]);
  const costs = all.sessions.map(({ session, cost_usd }: Json) => [session, cost_usd]);
  assert.deepEqual(Object.fromEntries(costs), { s: BOTH_COST, [fork]: READS_COST });
});

test("show sums up each run if there are several, and what a fork shares", async () => {
  await using place = new Place(() => answer([message("Hi.")], { usage: READS }));
  const spent = async (id: string) =>
    (await ok(place, ["show", id])).split("\n").filter((line) => /^(run \d|before the fork) · /.test(line))
      .map((line) => line.split(" · ")[0]);
  await place.session("s");
  assert.deepEqual(await spent("s"), [], "one run is the total");
  const fork = (await json(place, ["fork", "s"])).session;
  assert.deepEqual(await spent(fork), ["before the fork"]);
  for (const id of ["s", fork]) await ok(place, ["run", "-s", id, "More"]);
  assert.deepEqual([await spent("s"), await spent(fork)], [["run 1", "run 2"], ["run 2", "before the fork"]]);
});

test("an unknown price is null, --max-cost needs one, and the configuration sets it", async () => {
  await using place = new Place(() => answer([message("Hi.")], { usage: READS }));
  const limited = ["run", "--json", "--new", "-m", "my-model", "--max-cost", "1", "Hi"];
  const hint = /prices.*--max-tokens/;
  const unknown = { code: "unknown_price", exit: 2, says: /"my-model"/, hint };
  const error = assertError(await place.call(limited), unknown);
  assert.deepEqual(error.details, { provider: "openai", model: "my-model" });
  assert.deepEqual((await json(place, ["ls"])).sessions, [], "nothing was sent or created");
  const run = limited.filter((word) => !["--max-cost", "1"].includes(word));
  assert.equal(ending(await place.call(run)).cost_usd, null);
  const { total } = await json(place, ["stats"]);
  assert.deepEqual([total.cost_usd, total.unpriced], [null, 1]);
  configure(place.sandbox, { prices: { "my-model": { input: 1, cached: 0.5, output: 100 } } });
  assert.equal(ending(await place.call(limited)).cost_usd, (8 + 4012 * 0.5 + 500) / 1e6);
  configure(place.sandbox, { prices: { "my-model": { input: "1" } } });
  const wrong = { code: "bad_configuration", exit: 2, says: /"prices" of "my-model"/ };
  assertError(await place.call(run), wrong);
});

test("--max-cost clamps the output of each request to what is left, and ends the run with what was spent", async () => {
  await using place = new Place(() => READS_A);
  // The usage of each response: 120 input and 40 output tokens, $0.00128.
  const called = await place.call([...RUN, "--max-cost", "0.002", "Look"]);
  const says =
    /\$0\.0026 of \$0\.0020 is spent \(--max-cost\); the run spent 240 input tokens and 80 output tokens, \$0\.0026/;
  const { details } = assertError(called, { code: "over_budget", exit: 4, says });
  const limits = place.server.requests.map(({ body }) => (body as Json).max_output_tokens);
  assert.deepEqual(limits, [100, 36]);
  assert.deepEqual([details.cost_usd, ending(called).cost_usd], [0.00256, 0.00256]);
  const more = ["--max-cost", "0.002", "--max-tokens", "20000"];
  const { resume } = ending(await place.call(["run", "--json", "-s", "s", ...more, "More"]));
  assert.equal(resume, "reprise run -s s --max-tokens 20000 --max-cost 0.002", "the limits stay");
});

test("--max-tokens ends a run after the request that exceeds it, and is refused if it allows no answer", async () => {
  for (
    const [tokens, says, hint] of [
      [
        "200",
        /^Budget exhausted: 320 tokens were used, 120 more than 200/,
        / --max-tokens 200 --timeout 60$/,
      ],
      [
        "15",
        /at least 16 tokens/,
        /^Give a larger --max-tokens. Continue with: reprise run -s s --timeout 60$/,
      ],
    ] as const
  ) {
    await using place = new Place(() => READS_A);
    const called = await place.call([...RUN, "--max-tokens", tokens, "--timeout", "60", "Look"]);
    assertError(called, { code: "over_budget", exit: 4, says, hint });
  }
});

test("a played fixture costs nothing that is known: the cost is null, and --max-cost has no effect", async () => {
  await using sandbox = new Sandbox();
  const fixture = new URL("../../fixtures/demo/first", import.meta.url).pathname;
  const play = ["--fixture", fixture, "--match", "sequence", "--max-cost", "0.0001", "Look"];
  assert.equal(ending(await sandbox.call([...RUN, ...play])).cost_usd, null);
  const { total } = JSON.parse((await sandbox.call(["stats", "s", "--json"])).stdout);
  assert.equal(total.cost_usd, null);
  assert.ok(total.input_tokens > 0);
});

import assert from "node:assert/strict";
import type { PriceTable } from "../../../../src/domain/cost.ts";
import { NO_USAGE } from "../../../../src/domain/usage.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { parsePrices } from "../../../../src/cli/cost/own_prices.ts";
import { loadPrices } from "../../../../src/cli/cost/prices.ts";
import { livePorts, type ProgramPorts } from "../../../../src/cli/live_ports.ts";
import type { LedgerRequest } from "../../../../src/run/ledger.ts";

const REQUEST: LedgerRequest = {
  session: "s",
  turn: 2,
  run: 1,
  at: "2026-11-21T12:00:00.000Z",
  provider: "openai",
  asked: "gpt-x",
  answered: "gpt-x-2026-11-01",
  paid: true,
  tier: null,
  usage: { ...NO_USAGE, input_tokens: 1_000_000, cached_tokens: 400_000, output_tokens: 1_000_000 },
};

/** Ports whose price list knows some names, with the names that were looked up; and a configuration. */
function portsWith(
  known: Readonly<Record<string, number>>,
  prices?: JsonObject,
): { readonly ports: ProgramPorts; readonly looked: string[]; readonly loads: () => number } {
  const looked: string[] = [];
  let loads = 0;
  const table: PriceTable = {
    listPrice(list, model) {
      looked.push(`${list}:${model}`);
      return known[`${list}:${model}`] ?? null;
    },
  };
  const directory = Deno.makeTempDirSync();
  if (prices !== undefined) {
    Deno.mkdirSync(`${directory}/reprise`);
    Deno.writeTextFileSync(`${directory}/reprise/config.json`, JSON.stringify({ prices }));
  }
  const ports: ProgramPorts = {
    ...livePorts(() => {
      loads++;
      return Promise.resolve(table);
    }),
    env: (name) => name === "XDG_CONFIG_HOME" ? directory : undefined,
  };
  return { ports, looked, loads: () => loads };
}

async function costOf(ports: ProgramPorts, request: LedgerRequest): Promise<number | null> {
  return (await loadPrices(ports, [request]))(request);
}

Deno.test("the model that answered is looked up first, then the requested model if the other is its snapshot", async () => {
  const { ports, looked } = portsWith({ "openai:gpt-x": 5 });
  assert.equal(await costOf(ports, REQUEST), 5);
  assert.deepEqual(looked, ["openai:gpt-x-2026-11-01", "openai:gpt-x"]);
});

Deno.test("the price of the asked model does not count if another model answered", async () => {
  const { ports, looked } = portsWith({ "openai:gpt-x": 5 });
  assert.equal(await costOf(ports, { ...REQUEST, answered: "gpt-y" }), null);
  assert.deepEqual(looked, ["openai:gpt-y"]);
});

Deno.test("the name of a deployment says nothing about its price", async () => {
  const { ports } = portsWith({ "azure:gpt-x": 5, "azure:gpt-y": 7 });
  const request: LedgerRequest = { ...REQUEST, provider: "azure" };
  assert.equal(await costOf(ports, { ...request, answered: null }), null);
  assert.equal(await costOf(ports, { ...request, answered: "gpt-y" }), 7);
});

Deno.test("the price list is loaded only for a request that needs it", async () => {
  const free = { ...REQUEST, paid: false };
  const flex = { ...REQUEST, tier: "flex" };
  const uncounted = { ...REQUEST, usage: null };
  for (const request of [free, flex, uncounted]) {
    const { ports, loads } = portsWith({ "openai:gpt-x": 5 });
    assert.equal(await costOf(ports, request), null);
    assert.equal(loads(), 0);
  }
});

Deno.test("the user's prices replace the list, which is not even loaded", async () => {
  for (const name of ["gpt-x", "openai:gpt-x", "gpt-x-2026-11-01"]) {
    const { ports, loads } = portsWith({ "openai:gpt-x": 5 }, {
      [name]: { input: 2, cached: 1, output: 10 },
    });
    assert.ok(Math.abs((await costOf(ports, REQUEST) ?? 0) - (0.6 * 2 + 0.4 * 1 + 10)) < 1e-9, name);
    assert.equal(loads(), 0);
  }
  const { ports } = portsWith({ "openai:gpt-x": 5 }, { "azure:gpt-x": { input: 2, output: 10 } });
  assert.equal(await costOf(ports, REQUEST), 5);
});

Deno.test("prices in the configuration are checked, with the place that is wrong", () => {
  const wrong: readonly (readonly [JsonObject | string, RegExp])[] = [
    ["cheap", /not an object of prices/],
    [{ m: 3 }, /"m" is not an object/],
    [{ m: { input: 1 } }, /"m" lacks "output"/],
    [{ m: { input: 1, output: -1 } }, /"output" that is not a number/],
    [{ m: { input: 1, output: 2, reasoning: 3 } }, /"reasoning", which is not a price/],
  ];
  const refuse = (why: string) => new Error(why);
  for (const [value, says] of wrong) assert.throws(() => parsePrices(value, refuse), { message: says });
  const right = { m: { input: 0, output: 0, cached: 0, cache_write: 0 } };
  assert.deepEqual(parsePrices(right, refuse), right);
});

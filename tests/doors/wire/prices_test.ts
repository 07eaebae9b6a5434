/** The cost of a run, from the counts of its answer and the price list. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { says, text } from "../../support/scripted_api/messages_script.ts";
import { startMessagesServer } from "../../support/scripted_api/messages.ts";
import { startResponsesServer } from "../../support/scripted_api/responses.ts";
import { answer, message } from "../../support/scripted_api/responses_script.ts";
import { Sandbox } from "../../support/reprise.ts";
import { Runs } from "./runs.ts";

const usage = (input: number, output: number, cached = 0, written = 0) => ({
  input_tokens: input,
  output_tokens: output,
  input_tokens_details: { cached_tokens: cached, ...(written === 0 ? {} : { cache_write_tokens: written }) },
});

/** Model, usage as its API reports it, and the cost in US dollars; `null`: a price is never guessed. */
const COSTS: readonly (readonly [string, Readonly<Record<string, unknown>>, number | null])[] = [
  ["gpt-5.6-sol", usage(4020, 5, 0, 4012), (8 * 4 + 4012 * 5 + 5 * 20) / 1e6],
  ["gpt-5.6-sol", usage(4020, 5, 4012), (8 * 4 + 4012 * 0.4 + 5 * 20) / 1e6],
  ["gpt-5-2025-08-07", usage(1_000_000, 0), 1.25],
  ["no-such-model", usage(1000, 0), null],
  ["gpt-5.99", usage(1000, 0), null],
  ["gpt-5-nano-ultra", usage(1000, 0), null],
  ["gpt-5", usage(10, 0, 20), null],
  ["gpt-5", usage(10, 0, 0, 5), null],
  ["gpt-5", { ...usage(1_000_000, 0), service_tier: "default" }, 1.25],
  ["gpt-5", { ...usage(1_000_000, 0), service_tier: "batch" }, null],
  ["gpt-5", { input_tokens: -3, output_tokens: "9" }, 0],
  // Counts of the Messages API exclude each other.
  [
    "claude-sonnet-4-5-20250929",
    {
      input_tokens: 1000,
      cache_read_input_tokens: 6000,
      cache_creation_input_tokens: 3000,
      output_tokens: 500,
    },
    (1000 * 3 + 6000 * 0.3 + 3000 * 3.75 + 500 * 15) / 1e6,
  ],
  ["claude-haiku-4-5-20251001", { input_tokens: 1_000_000, output_tokens: 0 }, 1],
  ["claude-sonnet-5-5", { input_tokens: 1000, output_tokens: 0 }, null],
  ["claude-haiku-4-5-turbo", { input_tokens: 1000, output_tokens: 0 }, null],
];

/** Names of a run: model that was asked, model that answered, own prices, and the cost of 1,000,000 input tokens. */
const NAMES: readonly (readonly [asked: string, answered: string, own: Json, cost: number | null])[] = [
  ["gpt-5", "gpt-5-2026-11-01", {}, 1.25],
  ["gpt-5", "no-such-model", {}, null],
  ["no-such-model", "gpt-5", {}, 1.25],
  ["gpt-5", "gpt-5-2026-11-01", { "gpt-5": { input: 2, output: 10 } }, 2],
  ["gpt-5", "gpt-5-2026-11-01", { "openai:gpt-5": { input: 3, output: 10 } }, 3],
  ["gpt-5", "gpt-5-2026-11-01", { "gpt-5-2026-11-01": { input: 4, output: 10 } }, 4],
  ["gpt-5", "gpt-5-2026-11-01", { "azure:gpt-5": { input: 5, output: 10 } }, 1.25],
];

for (const [asked, answered, own, cost] of NAMES) {
  Deno.test(`${asked} that answers as ${answered} costs ${cost} with own prices ${JSON.stringify(own)}`, async () => {
    const options = { usage: usage(1_000_000, 0) as never, model: answered };
    const server = startResponsesServer({ script: () => answer([message("Done.")], options), rules: "none" });
    await using runs = new Runs(server, ["-m", asked]);
    configure(runs, own);
    assert.equal((await runs.run()).ended.cost_usd, cost);
  });
}

/** Own prices that are none, and the reason. */
const WRONG: readonly (readonly [Json, RegExp])[] = [
  ["cheap", /not an object of prices/],
  [{ m: 3 }, /"m" is not an object/],
  [{ m: { input: 1 } }, /"m" lacks "output"/],
  [{ m: { input: 1, output: -1 } }, /"output" that is not a number/],
  [{ m: { input: 1, output: 2, reasoning: 3 } }, /"reasoning", which is not a price/],
];

Deno.test("own prices that mean nothing are refused, with their place", async () => {
  await using home = new Sandbox();
  for (const [prices, says] of WRONG) {
    configure(home, prices);
    const { code, stderr } = await home.call(["run", "-m", "m", "--base-url", "http://127.0.0.1:1/v1", "Hi"]);
    assert.equal(code, 2);
    assert.match(stderr, says);
  }
});

function configure({ directory }: Sandbox, prices: Json): void {
  Deno.mkdirSync(`${directory}/.config/reprise`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/.config/reprise/config.json`, JSON.stringify({ prices }));
}

for (const [model, counts, cost] of COSTS) {
  Deno.test(`a run of ${model} with ${JSON.stringify(counts)} costs ${cost ?? "what is unknown"}`, async () => {
    const options = { usage: counts as never };
    const isClaude = model.startsWith("claude");
    const server = isClaude
      ? startMessagesServer({ script: () => says([text("Done.")], options) })
      : startResponsesServer({ script: () => answer([message("Done.")], options), rules: "none" });
    await using runs = new Runs(server, [...(isClaude ? ["-p", "anthropic"] : []), "-m", model]);
    const { ended } = await runs.run();
    if (cost === null) return assert.equal(ended.cost_usd, null);
    assert.ok(Math.abs(ended.cost_usd - cost) < 1e-9, `${ended.cost_usd} is not ${cost}`);
  });
}

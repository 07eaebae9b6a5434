/** The cost of a run, from the counts of its answer and the price list. */
import assert from "node:assert/strict";
import { says, text } from "../../support/scripted_api/messages_script.ts";
import { startMessagesServer } from "../../support/scripted_api/messages.ts";
import { startResponsesServer } from "../../support/scripted_api/responses.ts";
import { answer, message } from "../../support/scripted_api/responses_script.ts";
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

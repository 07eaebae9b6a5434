/** The cost of a run, from the counts of its answer and the price list. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
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

const MILLION = usage(1_000_000, 0);

/** The model that was asked, usage as its API reports it, the cost in US dollars, the model that answered, own prices. */
const COSTS: readonly (readonly [
  asked: string,
  counts: Readonly<Record<string, unknown>>,
  cost: number | null,
  answered?: string,
  own?: Json,
])[] = [
  ["gpt-5.6-sol", usage(4020, 5, 0, 4012), (8 * 4 + 4012 * 5 + 5 * 20) / 1e6],
  ["gpt-5.6-sol", usage(4020, 5, 4012), (8 * 4 + 4012 * 0.4 + 5 * 20) / 1e6],
  // A price is never guessed: not by the beginning of a name, nor for counts that contradict each other.
  ["gpt-5-nano-ultra", MILLION, null],
  ["gpt-5", usage(10, 0, 20), null],
  ["gpt-5", usage(10, 0, 0, 5), null],
  ["gpt-5", { ...MILLION, service_tier: "default" }, 1.25],
  ["gpt-5", { ...MILLION, service_tier: "batch" }, null],
  ["gpt-5", { input_tokens: -3, output_tokens: "9" }, 0],
  // Counts of the Messages API exclude each other.
  [
    "claude-sonnet-4-5-20250929",
    {
      ...{ input_tokens: 1000, cache_read_input_tokens: 6000, cache_creation_input_tokens: 3000 },
      output_tokens: 500,
    },
    (1000 * 3 + 6000 * 0.3 + 3000 * 3.75 + 500 * 15) / 1e6,
  ],
  ["claude-haiku-4-5-turbo", { input_tokens: 1000, output_tokens: 0 }, null],
  ["gpt-5", MILLION, 1.25, "gpt-5-2026-11-01"],
  ["gpt-5", MILLION, null, "no-such-model"],
  ["no-such-model", MILLION, 1.25, "gpt-5"],
  ["gpt-5", MILLION, 2, "gpt-5-2026-11-01", { "gpt-5": { input: 2, output: 10 } }],
  ["gpt-5", MILLION, 3, "gpt-5-2026-11-01", { "openai:gpt-5": { input: 3, output: 10 } }],
  ["gpt-5", MILLION, 4, "gpt-5-2026-11-01", { "gpt-5-2026-11-01": { input: 4, output: 10 } }],
  ["gpt-5", MILLION, 1.25, "gpt-5-2026-11-01", { "azure:gpt-5": { input: 5, output: 10 } }],
];

for (const [asked, counts, cost, answered = asked, own = {}] of COSTS) {
  const facts = JSON.stringify({ ...counts, own });
  Deno.test(`a run of ${asked} as ${answered} costs ${cost ?? "what is unknown"}: ${facts}`, async () => {
    const options = { usage: counts as never, model: answered };
    const isClaude = asked.startsWith("claude");
    const server = isClaude
      ? startMessagesServer({ script: () => says([text("Done.")], options) })
      : startResponsesServer({ script: () => answer([message("Done.")], options), rules: "none" });
    await using runs = new Runs(server, [...(isClaude ? ["-p", "anthropic"] : []), "-m", asked]);
    configure(runs, own);
    const { cost_usd } = (await runs.run()).ended;
    assert.ok(cost === null ? cost_usd === null : Math.abs(cost_usd - cost) < 1e-9, `${cost_usd}`);
  });
}

function configure({ directory }: Runs, prices: Json): void {
  Deno.mkdirSync(`${directory}/.config/reprise`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/.config/reprise/config.json`, JSON.stringify({ prices }));
}

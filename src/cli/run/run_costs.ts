/** The costs of a run: of each response, and the price that `--max-cost` needs before the first request. */
import { addCost } from "../../domain/cost.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/turn.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import { isPaid, type PriceFacts, requestsIn } from "../../run/ledger.ts";
import { loadPrices } from "../cost/prices.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { ResolvedRun } from "./resolve_run.ts";

/** Computes the cost of the requests of a turn in US dollars; `null` if it is unknown. */
export async function costOfTurn(ports: ProgramPorts, turn: Turn): Promise<number | null> {
  const requests = requestsIn(turn);
  const costOf = await loadPrices(ports, requests);
  return requests.map(costOf).reduce(addCost, 0);
}

/** Tokens whose cost shows the price of one token without noise. */
const MANY = 1_000_000;

/**
 * Adds the price of output to the settings of a run with `--max-cost`. A played fixture costs nothing, so the budget
 * has no effect there.
 *
 * @throws {RepriseError} `unknown_price` if the model has no price.
 */
export async function withOutputPrice(resolved: ResolvedRun): Promise<ResolvedRun> {
  const { call: { ports, fixture, flags }, endpoint: { provider }, key, model } = resolved;
  if (flags.maxCost === undefined || fixture !== null) return resolved;
  const probe = (input: number, output: number): PriceFacts => ({
    at: new Date(ports.clock.now()).toISOString(),
    provider,
    asked: model,
    answered: null,
    paid: isPaid(provider, key !== null),
    tier: null,
    usage: { ...NO_USAGE, input_tokens: input, output_tokens: output },
  });
  const costOf = await loadPrices(ports, [probe(0, MANY)]);
  if (costOf(probe(0, MANY)) === null) throw unknownPrice(provider, model);
  const cost = (input: number, output: number) => costOf(probe(input, output)) ?? 0;
  return { ...resolved, outputPrice: (input) => (cost(input, MANY) - cost(input, 0)) / MANY };
}

function unknownPrice(provider: string, model: string): RepriseError {
  return new RepriseError(
    "unknown_price",
    `Cannot limit the cost of a run with ${JSON.stringify(model)} (${provider}): its price is not known`,
    {
      hint:
        `Add ${JSON.stringify({ prices: { [model]: { input: 1, output: 2 } } })} to config.json with its ` +
        "prices for a million tokens in US dollars, or limit the run with --max-tokens",
      details: { provider, model },
    },
  );
}

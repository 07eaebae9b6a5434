/** The cost of requests: the user's prices, else the list price of the provider, else unknown. */
import { costAt, type PriceTable, type TokenPrices } from "../../domain/cost.ts";
import { PROVIDERS } from "../../apis/providers.ts";
import type { PriceFacts } from "../../run/ledger.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { readConfig } from "../config_file.ts";
import type { OwnPrices } from "./own_prices.ts";

/** Returns the cost of a request in US dollars; `null` if it is unknown. */
type CostOf = (request: PriceFacts) => number | null;

/**
 * Loads the prices of these requests: the price list only if one of them needs it.
 *
 * @throws {RepriseError} `bad_configuration`
 */
export async function loadPrices(
  ports: ProgramPorts,
  requests: readonly PriceFacts[],
): Promise<CostOf> {
  const own = requests.some(hasCost) ? readConfig(ports).prices : {};
  const needsList = requests.some((request) => hasCost(request) && ownPrice(own, request) === null);
  const table = needsList ? await ports.loadPriceTable() : null;
  return (request) => costOf(request, own, table);
}

/** True for a request whose cost a price can tell: a server was asked, at the standard price, and counted tokens. */
function hasCost({ paid, tier, usage, provider }: PriceFacts): boolean {
  return paid && tier === null && usage !== null && provider !== null;
}

function costOf(request: PriceFacts, own: OwnPrices, table: PriceTable | null): number | null {
  const { provider, usage, at } = request;
  if (!hasCost(request) || provider === null || usage === null) return null;
  const prices = ownPrice(own, request);
  if (prices !== null) return costAt(prices, usage);
  const { priceList } = PROVIDERS[provider];
  const time = new Date(at);
  if (priceList === null || table === null || Number.isNaN(time.getTime())) return null;
  for (const model of listedNames(request, priceList.ofDeployments)) {
    const cost = table.listPrice(priceList.name, model, { usage, at: time });
    if (cost !== null) return cost;
  }
  return null;
}

function ownPrice(own: OwnPrices, { provider, asked, answered }: PriceFacts): TokenPrices | null {
  for (const model of [asked, answered]) {
    if (model === null) continue;
    for (const name of [`${provider}:${model}`, model]) {
      if (Object.hasOwn(own, name)) return own[name] ?? null;
    }
  }
  return null;
}

/**
 * Names to look up: of the model that answered, then of the model that was asked if the answer came from a snapshot of
 * it. A deployment may have the name of any model, so its name says nothing about the price.
 */
function listedNames({ asked, answered }: PriceFacts, ofDeployments: boolean): string[] {
  const isSame = asked !== null && !ofDeployments &&
    (answered === null || answered.startsWith(`${asked}-`));
  return [...(answered === null ? [] : [answered]), ...(isSame ? [asked] : [])];
}

/** The user's prices: the member `prices` of `config.json`, which replaces list prices. */
import type { TokenPrices } from "../../domain/cost.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";

/** Prices by model, or by `PROVIDER:MODEL`. */
export type OwnPrices = Readonly<Record<string, TokenPrices>>;

/** The members of one price, and those that it must have. */
const MEMBERS = ["input", "cached", "cache_write", "output"];
const REQUIRED = ["input", "output"];

/**
 * Parses the member `prices`.
 *
 * @throws the error that `refuse` makes of what is wrong.
 */
export function parsePrices(value: JsonValue, refuse: (why: string) => Error): OwnPrices {
  const problem = problemOf(value);
  if (problem !== null) throw refuse(problem);
  return value as unknown as OwnPrices;
}

function problemOf(value: JsonValue): string | null {
  if (!isJsonObject(value)) return `"prices" is not an object of prices by model`;
  for (const [model, prices] of Object.entries(value)) {
    const at = `"prices" of ${JSON.stringify(model)}`;
    if (!isJsonObject(prices)) return `${at} is not an object`;
    const unknown = Object.keys(prices).find((name) => !MEMBERS.includes(name));
    if (unknown !== undefined) return `${at} has ${JSON.stringify(unknown)}, which is not a price`;
    const missing = REQUIRED.find((name) => prices[name] === undefined);
    if (missing !== undefined) return `${at} lacks "${missing}"`;
    const bad = Object.keys(prices).find((name) => !isPrice(prices[name]));
    if (bad !== undefined) return `${at} has a "${bad}" that is not a number of dollars, 0 or more`;
  }
  return null;
}

function isPrice(value: JsonValue | undefined): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/**
 * The user's prices: the member `prices` of `config.json`, which replaces list prices.
 *
 * @module
 */
import type { TokenPrices } from "../../domain/cost.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";

/** The member of `config.json`. */
export const PRICES = "prices";

/** Prices by model, or by `PROVIDER:MODEL`. */
export type OwnPrices = Readonly<Record<string, TokenPrices>>;

/** The members of one price, and those that it must have. */
const MEMBERS = ["input", "cached", "cache_write", "output"];
const REQUIRED = ["input", "output"];

/** Describes what is wrong with the member `prices`; `null` if it is {@linkcode OwnPrices}. */
export function problemOfPrices(value: JsonValue | undefined): string | null {
  if (!isJsonObject(value)) return `"${PRICES}" is not an object of prices by model`;
  for (const [model, prices] of Object.entries(value)) {
    const at = `"${PRICES}" of ${JSON.stringify(model)}`;
    if (!isJsonObject(prices)) return `${at} is not an object`;
    const unknown = Object.keys(prices).find((name) => !MEMBERS.includes(name));
    if (unknown !== undefined) return `${at} has ${JSON.stringify(unknown)}, which is not a price`;
    const missing = REQUIRED.find((name) => prices[name] === undefined);
    if (missing !== undefined) return `${at} lacks "${missing}"`;
    const bad = Object.keys(prices).find((name) => !isPrice(prices[name]));
    if (bad !== undefined) return `${at} has "${bad}" that is not a number of dollars from 0 on`;
  }
  return null;
}

function isPrice(value: JsonValue | undefined): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/**
 * List prices from a dependency. A script of its own in the executable: its table is larger than most of the program.
 *
 * @module
 */
import { calcPrice, type MatchLogic, type ModelInfo, type PriceCalculation } from "@pydantic/genai-prices";
import type { PriceTable } from "../domain/cost.ts";
import type { RequestUsage } from "../domain/usage.ts";

/** Implements {@linkcode PriceTable.listPrice} with the prices in force at the time of the request. */
export const listPrice: PriceTable["listPrice"] = (list, model, { usage, at }) => {
  const found = calculated(list, model, { usage, at });
  if (found === null || !isNamed(found.model, model.toLowerCase().trim())) return null;
  const { input_mtok, output_mtok, cache_write_mtok } = found.model_price;
  if (input_mtok === undefined || output_mtok === undefined) return null;
  // Without a price for writes the library counts them as plain input, which is too little.
  if ((usage.cache_write_tokens ?? 0) > 0 && cache_write_mtok === undefined) return null;
  return found.total_price;
};

function calculated(
  list: string,
  model: string,
  { usage, at }: { readonly usage: RequestUsage; readonly at: Date },
): PriceCalculation | null {
  const counts = {
    input_tokens: usage.input_tokens,
    cache_read_tokens: usage.cached_tokens,
    cache_write_tokens: usage.cache_write_tokens ?? 0,
    output_tokens: usage.output_tokens,
  };
  try {
    return calcPrice(counts, model, { providerId: list, timestamp: at });
  } catch {
    // Counts that contradict each other, such as more cached tokens than input.
    return null;
  }
}

/** Date or `latest` at the end of a model's name: the same model. */
const SNAPSHOT = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/**
 * True if an entry names exactly this model, with or without a date. Many entries match any name that begins so: the
 * price of `claude-sonnet-5` would be taken for a later `claude-sonnet-5-5`.
 */
function isNamed({ id, match }: ModelInfo, model: string): boolean {
  const names = [model, model.replace(SNAPSHOT, "")];
  return names.includes(id.toLowerCase()) || isNamedBy(match, names);
}

function isNamedBy(match: MatchLogic, names: readonly string[]): boolean {
  if ("or" in match) return match.or.some((each) => isNamedBy(each, names));
  if ("and" in match) return match.and.every((each) => isNamedBy(each, names));
  if ("regex" in match) return names.some((name) => new RegExp(match.regex).test(name));
  return Object.values(match).some((text) => names.includes(String(text).toLowerCase()));
}

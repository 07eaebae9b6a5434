/**
 * Prices and costs of requests, in US dollars. Costs are computed when they are shown: files keep token counts only.
 */
import type { RequestUsage } from "./usage.ts";

/** Prices of a model in US dollars for a million tokens. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  /** Input from the prompt cache. @default {input} */
  readonly cached?: number;
  /** Input that is written to the prompt cache. @default {input} */
  readonly cache_write?: number;
}

export interface PriceTable {
  /**
   * The list price of one request in US dollars; `null` if the list has no price for this exact model, or the counts
   * contradict each other.
   */
  listPrice(
    list: string,
    model: string,
    request: { readonly usage: RequestUsage; readonly at: Date },
  ): number | null;
}

/** The cost of a request at prices of its own, in US dollars. */
export function costAt(prices: TokenPrices, usage: RequestUsage): number {
  const { input, output, cached = input, cache_write = input } = prices;
  const written = usage.cache_write_tokens ?? 0;
  const plain = Math.max(0, usage.input_tokens - usage.cached_tokens - written);
  return (plain * input + usage.cached_tokens * cached + written * cache_write +
    usage.output_tokens * output) /
    1e6;
}

/** The sum of two costs; `null` if one of them is unknown. */
export function addCost(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** A cost as a number for programs: without the noise of floating point. */
export function roundedCost(cost: number | null): number | null {
  return cost === null ? null : Math.round(cost * 1e9) / 1e9;
}

/** A cost for people, such as `$0.0123`; `unknown` for `null`. */
export function costText(cost: number | null): string {
  if (cost === null) return "unknown";
  if (cost > 0 && cost < 0.0001) return "less than $0.0001";
  return `$${cost.toFixed(cost === 0 || cost >= 10 ? 2 : 4)}`;
}

/** Token counts of answers in words, and what they say about the prompt cache. */
import { counted } from "../../domain/text.ts";
import type { Usage } from "../../domain/usage.ts";
import type { PrefixReport } from "../../run/prefix.ts";
import { type Block, note } from "./blocks.ts";

export function usageText(usage: Usage): string {
  const { input_tokens: input, cached_tokens: cached, output_tokens: output, reasoning_tokens } = usage;
  if (input + output === 0) return "no token counts";
  const missing = usage.uncounted === undefined ? "" : `; ${counted(usage.uncounted, "answer")} not counted`;
  const part = (count: number, what: string) => count === 0 ? "" : `, ${count} of them ${what}`;
  const thought = part(reasoning_tokens, "reasoning");
  return `${counted(input, "token")} in${part(cached, "cached")}, ${output} out${thought}${missing}`;
}

/** Tokens below which providers cache no prompt. */
const LEAST_CACHED = 1024;

/**
 * Says that a request missed the cache and why. Nothing is said if the request before it was too short to be cached, or
 * the answer counts no tokens.
 */
export function cacheNote(prefix: PrefixReport, before: Usage, now: Usage): Block[] {
  if (before.input_tokens < LEAST_CACHED || now.input_tokens < LEAST_CACHED) return [];
  if (prefix.extends) {
    return now.cached_tokens > 0
      ? []
      : [note("no tokens from the prompt cache, although the request extends the one before")];
  }
  const place = prefix.item === null ? "before its input" : `in item ${prefix.item} of its input`;
  return [note(`prompt cache missed: first differing byte ${prefix.byte}, ${place}`, { isError: true })];
}

/** The prompt cache of a provider, where a request could have used it. */
import type { Usage } from "../../domain/usage.ts";
import type { PrefixReport } from "../../run/verify.ts";
import { type Block, note } from "./blocks.ts";

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

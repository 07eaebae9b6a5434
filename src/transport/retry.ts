/**
 * When to try again, and after how long (protocol §6.4).
 *
 * @module
 */
import type { ApiFailure } from "../domain/failure.ts";

const LONGEST_WAIT = 60_000;

/** True when the failed request may go out once more. A spent quota is never tried again, whatever a header says. */
export function mayRetry(failure: ApiFailure, headers: Headers | undefined): boolean {
  if (failure.code === "quota_exhausted") return false;
  const advice = headers?.get("x-should-retry");
  if (advice === "true") return true;
  if (advice === "false") return false;
  return failure.retryable;
}

/** What {@linkcode retryDelay} looks at. */
export interface RetryFacts {
  readonly headers: Headers | undefined;
  /** Wall time in milliseconds, for dates in `retry-after`. */
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

/**
 * Milliseconds to wait before retry number `attempt` (1, 2, …): what the server asks for when that is 0 to 60
 * seconds, otherwise `min(0.5 · 2^(attempt − 1), 8)` seconds, less up to a quarter by chance.
 */
export function retryDelay(attempt: number, facts: RetryFacts): number {
  const asked = askedDelay(facts.headers, facts.now);
  if (asked !== undefined && asked >= 0 && asked <= LONGEST_WAIT) return Math.round(asked);
  return Math.round(Math.min(500 * 2 ** (attempt - 1), 8_000) * (1 - 0.25 * facts.random));
}

function askedDelay(headers: Headers | undefined, now: number): number | undefined {
  const milliseconds = numberOf(headers?.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const after = headers?.get("retry-after");
  const seconds = numberOf(after);
  if (seconds !== undefined) return seconds * 1000;
  const date = after ? Date.parse(after) : NaN;
  return Number.isNaN(date) ? undefined : date - now;
}

function numberOf(text: string | null | undefined): number | undefined {
  if (!text || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}

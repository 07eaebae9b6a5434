/** The flags that choose sessions, for `ls` and `search`. */
import { InvalidArgumentError } from "commander";
import { SESSION_STATES } from "../../domain/session_states.ts";
import { type FlagsOf, list, value } from "../declare.ts";
import { ageMs, wholeNumber } from "../flags.ts";

/** The flags that choose sessions. */
export const FILTER_FLAGS = {
  state: list("--state <list>", `only sessions in these states: ${SESSION_STATES.join(", ")}`),
  since: value("--since <when>", "only sessions used since then: a date, or an age such as 12h or 7d", when),
  limit: value("--limit <n>", "at most N sessions", wholeNumber(1)),
};
/** The values of {@linkcode FILTER_FLAGS}. */
export type FilterFlags = FlagsOf<typeof FILTER_FLAGS>;

/** A point in time, or an age that ends now; in milliseconds. */
export type When = { readonly at: number } | { readonly agoMs: number };

/** Reads `2026-11-21`, which is midnight here, a full ISO time, or an age such as `90m`, `12h`, `7d`, `2w`. */
export function when(text: string): When {
  const agoMs = ageMs(text);
  if (agoMs !== null) return { agoMs };
  // JavaScript takes a date alone as midnight in UTC.
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00`) : Date.parse(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at)) {
    throw new InvalidArgumentError("Give a date such as 2026-11-21, or an age such as 12h or 7d.");
  }
  return { at };
}

/** The time from which on things count, in milliseconds; `null` without `since`. */
export function startOf(since: When | undefined, now: number): number | null {
  if (since === undefined) return null;
  return "at" in since ? since.at : now - since.agoMs;
}

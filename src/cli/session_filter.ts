/** Chooses sessions by what their manifests say: for `ls` and `search`. */
import { type When, when, wholeNumber, ZONE_FLAG } from "./flags.ts";
import { RepriseError } from "../domain/errors.ts";
import type { Home } from "../store/home.ts";
import { type JudgedSession, judgeSession, type SessionSummary } from "../store/list.ts";
import { SESSION_STATES } from "../domain/session_states.ts";
import type { ProgramPorts } from "./live_ports.ts";
import { type FlagsOf, list, value } from "./declare.ts";
import { TimeZone } from "./local_time.ts";

/** Chooses sessions by the flags that need only their manifests; keeps their order. */
export function usedSince(
  { clock }: Pick<ProgramPorts, "clock">,
  sessions: readonly SessionSummary[],
  flags: Pick<FilterFlags, "since" | "tz">,
): readonly SessionSummary[] {
  const from = startOf(flags, clock.now());
  if (from === null) return sessions;
  // The age of a session without a manifest is unknown: it is shown, as damage should be.
  return sessions.filter(({ manifest }) => manifest === null || Date.parse(manifest.updated_at) >= from);
}

/**
 * The first `limit` of the sessions in the states that `--state` names, each with its state.
 *
 * @throws {RepriseError} `usage` for an unknown state.
 */
export function inStates(
  ports: ProgramPorts,
  home: Home,
  sessions: readonly SessionSummary[],
  { state, limit }: Pick<FilterFlags, "state" | "limit">,
): JudgedSession[] {
  const states = wantedStates(state);
  // Judging reads a file of each session.
  const candidates = states === null ? sessions.slice(0, limit) : sessions;
  return candidates.map((session) => judgeSession(ports, home, session))
    .filter(({ state }) => states === null || states.has(state)).slice(0, limit);
}

function wantedStates(lists: readonly string[] | undefined): ReadonlySet<string> | null {
  if (lists === undefined) return null;
  const names = lists.flatMap((each) => each.split(",")).map((name) => name.trim());
  const unknown = names.find((name) => !(SESSION_STATES as readonly string[]).includes(name));
  if (unknown === undefined) return new Set(names);
  throw new RepriseError(
    "usage",
    `Cannot use --state ${JSON.stringify(unknown)}: no session has such a state`,
    {
      hint: `Give one of ${SESSION_STATES.join(", ")}`,
    },
  );
}

export const FILTER_FLAGS = {
  state: list("--state <list>", `only sessions in these states: ${SESSION_STATES.join(", ")}`),
  since: value("--since <when>", "only sessions used since then: a date, or an age such as 12h or 7d", when),
  limit: value("--limit <n>", "at most N sessions", wholeNumber(1)),
  ...ZONE_FLAG,
};
type FilterFlags = FlagsOf<typeof FILTER_FLAGS>;

/** The time from which on things count, in milliseconds; `null` without `since`. */
export function startOf(
  { since, tz = TimeZone.local }: { readonly since?: When | undefined; readonly tz?: TimeZone | undefined },
  now: number,
): number | null {
  if (since === undefined) return null;
  if ("day" in since) return tz.startOf(since.day);
  return "at" in since ? since.at : now - since.agoMs;
}

/** States of runs and of sessions. */

/** Terminal states of runs. */
export const RUN_STATES = [
  "completed",
  "incomplete",
  "refused",
  "failed",
  "interrupted",
  "timed_out",
  "over_budget",
  "diverged",
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** States of sessions in lists; a later version may add to those of ended runs. */
export const SESSION_STATES = [
  ...RUN_STATES,
  // The last run is open: a process holds the session's lock, or none does.
  "running",
  "killed",
  // The manifest or the newest turn shows damage.
  "damaged",
  // A later version wrote the session.
  "unknown",
] as const;

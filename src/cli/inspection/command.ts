/** The verbs that inspect sessions and the environment; they change nothing. */
import { argument, type FlagsOf, toggle, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, REQUEST_FLAGS, SESSION } from "../flags.ts";
import { when, ZONE_FLAG } from "./session_flags.ts";
import { VIEWING_VERBS } from "./viewing.ts";

const EXPLAIN_FLAGS = {
  ...COMMON_FLAGS,
  model: REQUEST_FLAGS.model,
  provider: REQUEST_FLAGS.provider,
  baseUrl: REQUEST_FLAGS.baseUrl,
  replay: REQUEST_FLAGS.replay,
};
/** The flags of `explain`. */
export type ExplainFlags = FlagsOf<typeof EXPLAIN_FLAGS>;

const STATS_FLAGS = {
  ...COMMON_FLAGS,
  since: value("--since <when>", "only requests since then: a date, or an age such as 12h or 7d", when),
  ...ZONE_FLAG,
};
/** The flags of `stats`. */
export type StatsFlags = FlagsOf<typeof STATS_FLAGS>;

const DOCTOR_FLAGS = {
  ...COMMON_FLAGS,
  live: toggle(
    "--live",
    "ask the API for two turns with a tool call, with and without reasoning (three requests), and the remote",
  ),
};
/** The flags of `doctor`. */
export type DoctorFlags = FlagsOf<typeof DOCTOR_FLAGS>;

/** The declarations. */
export const INSPECTION_VERBS: readonly Verb[] = [
  ...VIEWING_VERBS,
  verb({
    name: "explain",
    about: "list which reasoning items the next request has, and why",
    step: true,
    arguments: [SESSION],
    flags: EXPLAIN_FLAGS,
    examples: ["reprise explain @last --model gpt-5.6"],
    load: async () => (await import("./explain.ts")).explainVerb,
  }),
  verb({
    name: "stats",
    about: "count tokens and costs by run, session, model and day",
    step: true,
    arguments: [argument("[id]", `${SESSION.about}; none: all sessions`)],
    flags: STATS_FLAGS,
    examples: ["reprise stats @last", "reprise stats --since 7d --tz UTC --json"],
    load: async () => (await import("./stats.ts")).statsVerb,
  }),
  verb({
    name: "doctor",
    about: "show the environment, and the source of each setting",
    arguments: [],
    flags: DOCTOR_FLAGS,
    examples: ["reprise doctor --json"],
    load: async () => (await import("./doctor.ts")).doctorVerb,
  }),
];

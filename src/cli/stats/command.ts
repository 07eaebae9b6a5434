/** `reprise stats`: flags and declaration. */
import { argument, type FlagsOf, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, SESSION, when, ZONE_FLAG } from "../flags.ts";

const STATS_FLAGS = {
  ...COMMON_FLAGS,
  since: value("--since <when>", "only requests since then: a date, or an age such as 12h or 7d", when),
  ...ZONE_FLAG,
};
export type StatsFlags = FlagsOf<typeof STATS_FLAGS>;

export const STATS_VERB: Verb = verb({
  name: "stats",
  about: "count tokens and costs by run, session, model and day",
  step: true,
  arguments: [argument("[id]", `${SESSION.about}; none: all sessions`)],
  flags: STATS_FLAGS,
  examples: ["reprise stats @last", "reprise stats --since 7d --tz UTC --json"],
  load: async () => (await import("./stats.ts")).statsVerb,
});

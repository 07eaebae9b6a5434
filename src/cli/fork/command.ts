/** `reprise fork`: flags and declaration. */
import { again, type FlagsOf, toggle, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, SESSION, wholeNumber } from "../flags.ts";

const FORK_FLAGS = {
  ...COMMON_FLAGS,
  remote: REMOTE,
  toSeq: value(
    "--to-seq <n>",
    "the last event to keep: the last of a turn (default: the newest possible)",
    wholeNumber(1),
  ),
  summarize: toggle("--summarize", "give the model a summary of what the other session did next"),
  dryRun: again(DRY_RUN, "list what would be kept; change nothing"),
};
export type ForkFlags = FlagsOf<typeof FORK_FLAGS>;

export const FORK_VERB: Verb = verb({
  name: "fork",
  about: "start a new session from the beginning of another",
  step: true,
  arguments: [SESSION],
  flags: FORK_FLAGS,
  examples: ["reprise fork fix-ci-7k2m --to-seq 42"],
  load: async () => (await import("./fork.ts")).forkVerb,
});

/** `reprise ls`: flags and declaration. */
import { again, type FlagsOf, toggle, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, ON_REMOTE, REMOTE_TIMEOUT } from "../flags.ts";
import { FILTER_FLAGS } from "../session_filter.ts";

const LS_FLAGS = {
  ...COMMON_FLAGS,
  tree: toggle("--tree", "show forks under their parent sessions"),
  ...FILTER_FLAGS,
  remote: {
    ...again(ON_REMOTE, `list the sessions ${ON_REMOTE.about}`),
    conflicts: ["tree", "state"],
  },
  timeout: REMOTE_TIMEOUT,
};
export type LsFlags = FlagsOf<typeof LS_FLAGS>;

export const LS_VERB: Verb = verb({
  name: "ls",
  about: "list sessions, newest first",
  step: true,
  arguments: [],
  flags: LS_FLAGS,
  examples: [
    "reprise ls --since 7d",
    "reprise ls --state running,killed --json",
    "reprise ls --remote",
  ],
  load: async () => (await import("./ls.ts")).lsVerb,
});

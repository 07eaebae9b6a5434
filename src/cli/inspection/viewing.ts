/**
 * The verbs that people call most often, and that start fastest.
 *
 * @module
 */
import { type FlagsOf, text, toggle, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, SESSION, wholeNumber } from "../flags.ts";

const LS_FLAGS = {
  ...COMMON_FLAGS,
  tree: toggle("--tree", "show forks under their parent sessions"),
  since: text("--since <when>", "only sessions changed since then: a date, or an age such as 12h or 7d"),
  limit: value("--limit <n>", "at most N sessions", wholeNumber(1)),
};
/** The flags of `ls`. */
export type LsFlags = FlagsOf<typeof LS_FLAGS>;

const SHOW_FLAGS = {
  ...COMMON_FLAGS,
  turns: toggle("--turns", "one line for each turn", { conflicts: ["events", "raw"] }),
  events: toggle("--events", "one line for each event", { conflicts: ["turns", "raw"] }),
  raw: value("--raw <n>", "the file of turn N, byte for byte", wholeNumber(1)),
};
/** The flags of `show`. */
export type ShowFlags = FlagsOf<typeof SHOW_FLAGS>;

/** The declarations. */
export const VIEWING_VERBS: readonly Verb[] = [
  verb({
    name: "ls",
    about: "list sessions, newest first",
    step: true,
    arguments: [],
    flags: LS_FLAGS,
    examples: ["reprise ls --since 7d --json", "reprise ls --tree"],
    load: async () => (await import("./ls.ts")).lsVerb,
  }),
  verb({
    name: "show",
    about: "print a session as a transcript",
    step: true,
    arguments: [SESSION],
    flags: SHOW_FLAGS,
    examples: ["reprise show @last", "reprise show fix-ci-7k2m --raw 2"],
    load: async () => (await import("./show.ts")).showVerb,
  }),
];

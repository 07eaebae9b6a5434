/** The verbs that people call most often, and that start fastest. */
import { again, argument, type FlagsOf, negated, toggle, value, type Verb, verb } from "../declare.ts";
import {
  BLOBS,
  COMMON_FLAGS,
  ON_REMOTE,
  PAGE_FLAGS,
  REMOTE_TIMEOUT,
  SESSION,
  wholeNumber,
} from "../flags.ts";
import { FILTER_FLAGS, ZONE_FLAG } from "./session_flags.ts";

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
/** The flags of `ls`. */
export type LsFlags = FlagsOf<typeof LS_FLAGS>;

const SEARCH_FLAGS = { ...COMMON_FLAGS, ...FILTER_FLAGS };
/** The flags of `search`. */
export type SearchFlags = FlagsOf<typeof SEARCH_FLAGS>;

const SHOW_FLAGS = {
  ...COMMON_FLAGS,
  turns: toggle("--turns", "one line for each turn", { conflicts: ["events", "raw", "markdown", "html"] }),
  events: toggle("--events", "one line for each event", { conflicts: ["turns", "raw", "markdown", "html"] }),
  raw: value("--raw <n>", "the file of turn N, byte for byte", wholeNumber(1), {
    conflicts: ["markdown", "html"],
  }),
  markdown: toggle("--markdown", "Markdown for a pull request", { conflicts: ["json", "html"] }),
  run: value("--run <n>", "only the turns of run N", wholeNumber(1), { conflicts: ["last", "raw"] }),
  last: toggle("--last", "only the turns of the last run", { conflicts: ["run", "raw"] }),
  blobs: BLOBS,
  full: toggle("--full", "long texts and outputs whole"),
  pager: negated("--no-pager", "print to the terminal, not through $PAGER", { step: false }),
  ...ZONE_FLAG,
  ...PAGE_FLAGS,
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
    examples: [
      "reprise ls --since 7d",
      "reprise ls --state running,killed --json",
      "reprise ls --remote",
    ],
    load: async () => (await import("./ls.ts")).lsVerb,
  }),
  verb({
    name: "search",
    about: "find a text in prompts, answers, tool calls and outputs",
    step: true,
    arguments: [argument("<text>", "the text, in upper or lower case")],
    flags: SEARCH_FLAGS,
    examples: ['reprise search "exit code 137"', "reprise search parse_args --since 7d --json"],
    load: async () => (await import("./search.ts")).searchVerb,
  }),
  verb({
    name: "show",
    about: "print a session as a transcript",
    step: true,
    arguments: [argument("<id>", `${SESSION.about}; or the file of an export, "-" for stdin`)],
    flags: SHOW_FLAGS,
    examples: [
      "reprise show @last --last",
      "reprise show fix-ci-7k2m --markdown > transcript.md",
      "reprise show fix-ci.jsonl --full",
      "reprise show fix-ci-7k2m --raw 2",
      "reprise show @last --html session.html",
    ],
    load: async () => (await import("./show.ts")).showVerb,
  }),
];

/** `reprise show`: flags and declaration. */
import { argument, type FlagsOf, negated, toggle, value, type Verb, verb } from "../declare.ts";
import { BLOBS, COMMON_FLAGS, PAGE_FLAGS, SESSION, wholeNumber, ZONE_FLAG } from "../flags.ts";

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
export type ShowFlags = FlagsOf<typeof SHOW_FLAGS>;

export const SHOW_VERB: Verb = verb({
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
});

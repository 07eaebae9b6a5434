/** `reprise omit`: flags and declaration. */
import { again, type FlagsOf, list, toggle, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, SESSION, WAIT, wholeNumber } from "../flags.ts";

const OMIT_FLAGS = {
  ...COMMON_FLAGS,
  remote: REMOTE,
  seq: list("--seq <list>", "the seq of each item, with commas or repeated"),
  part: value(
    "--part <n>",
    "only this part of the one message in --seq: its files first, from 1",
    wholeNumber(1),
  ),
  undo: toggle("--undo", "send again what --seq names, or what the latest omit took out"),
  wait: WAIT,
  dryRun: again(DRY_RUN, "print the next request's difference in items and tokens; change nothing"),
};
export type OmitFlags = FlagsOf<typeof OMIT_FLAGS>;

export const OMIT_VERB: Verb = verb({
  name: "omit",
  about: "take items out of later requests; they stay on disk",
  step: true,
  arguments: [SESSION],
  flags: OMIT_FLAGS,
  examples: [
    "reprise omit fix-ci-7k2m --seq 5,9 --dry-run",
    "reprise omit @last --seq 5 --part 1",
    "reprise omit fix-ci-7k2m --undo",
  ],
  load: async () => (await import("./omit.ts")).omitVerb,
});

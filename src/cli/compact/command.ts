/** `reprise compact`: flags and declaration. */
import { again, choice, type FlagsOf, toggle, value, type Verb, verb } from "../declare.ts";
import {
  COMMON_FLAGS,
  DRY_RUN,
  FIXTURE_FLAGS,
  REMOTE,
  REQUEST_FLAGS,
  SESSION,
  WAIT,
  wholeNumber,
} from "../flags.ts";

const COMPACT_FLAGS = {
  ...COMMON_FLAGS,
  ...REQUEST_FLAGS,
  remote: REMOTE,
  tailEvents: value("--tail-events <n>", "the number of newest events to keep unchanged", wholeNumber(0), {
    fallback: 80,
  }),
  strategy: choice(
    "--strategy <strategy>",
    "the writer of the checkpoint: a rule, or the model",
    ["deterministic", "model"],
    { fallback: "deterministic" },
  ),
  ...FIXTURE_FLAGS,
  undo: toggle("--undo", "withdraw the latest checkpoint: the events that it replaced are sent again", {
    conflicts: ["tailEvents", "strategy", "fixture"],
  }),
  wait: WAIT,
  dryRun: again(DRY_RUN, "print the plan; change and send nothing"),
};
export type CompactFlags = FlagsOf<typeof COMPACT_FLAGS>;

export const COMPACT_VERB: Verb = verb({
  name: "compact",
  about: "replace older events by a checkpoint in later requests",
  step: true,
  arguments: [SESSION],
  flags: COMPACT_FLAGS,
  examples: [
    "reprise compact fix-ci-7k2m --dry-run --json",
    "reprise compact @last --strategy model --tail-events 40",
    "reprise compact @last --undo",
  ],
  load: async () => (await import("./compact.ts")).compactVerb,
});

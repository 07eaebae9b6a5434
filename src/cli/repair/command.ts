/** `reprise repair`: flags and declaration. */
import { again, argument, type FlagsOf, toggle, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, SESSION, WAIT } from "../flags.ts";

const REPAIR_FLAGS = {
  ...COMMON_FLAGS,
  all: toggle("--all", "repair every session"),
  liftQuarantine: toggle(
    "--lift-quarantine",
    "do not repair files, but let later requests send refused reasoning items again",
    { conflicts: ["all"] },
  ),
  remote: again(REMOTE, "take intact copies from S3, and put them there too: s3://BUCKET/PREFIX"),
  wait: WAIT,
  dryRun: DRY_RUN,
};
export type RepairFlags = FlagsOf<typeof REPAIR_FLAGS>;

export const REPAIR_VERB: Verb = verb({
  name: "repair",
  about: "repair what fsck finds; replaced files are kept in quarantine/",
  step: true,
  arguments: [argument("[id]", SESSION.about)],
  flags: REPAIR_FLAGS,
  examples: ["reprise repair fix-ci-7k2m --dry-run", "reprise repair --all"],
  load: async () => (await import("./repair.ts")).repairVerb,
});

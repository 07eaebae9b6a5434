/** `reprise rm`: flags and declaration. */
import { again, argument, type FlagsOf, toggle, value, type Verb, verb } from "../declare.ts";
import {
  ageOrDays,
  byteCount,
  COMMON_FLAGS,
  DRY_RUN,
  ON_REMOTE,
  REMOTE_TIMEOUT,
  SESSION,
  wholeNumber,
} from "../flags.ts";

const RM_FLAGS = {
  ...COMMON_FLAGS,
  olderThan: value("--older-than <age>", "sessions not used for that long: 90d, 12h, 2w", ageOrDays),
  keep: value("--keep <n>", "all but the N newest", wholeNumber(0)),
  largerThan: value("--larger-than <size>", "sessions of more than that size: 1GB, 500MB, 2GiB", byteCount),
  unused: toggle(
    "--unused",
    "blobs that no turn names, and leftovers of killed processes, instead of sessions",
    { conflicts: ["remote"] },
  ),
  remote: again(ON_REMOTE, `delete the sessions ${ON_REMOTE.about}`),
  timeout: REMOTE_TIMEOUT,
  yes: toggle("--yes", "do not ask for confirmation"),
  dryRun: again(DRY_RUN, "list what would be deleted; delete nothing"),
};
export type RmFlags = FlagsOf<typeof RM_FLAGS>;

export const RM_VERB: Verb = verb({
  name: "rm",
  about: "delete sessions by name, age, number or size, or leftovers",
  step: true,
  arguments: [argument("[ids...]", SESSION.about)],
  flags: RM_FLAGS,
  examples: [
    "reprise rm fix-ci-7k2m try-again-x4qa --yes",
    "reprise rm --older-than 90d --keep 200 --dry-run",
    "reprise rm --unused",
  ],
  load: async () => (await import("./rm.ts")).rmVerb,
});

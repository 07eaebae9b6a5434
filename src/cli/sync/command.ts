/** `reprise sync`: flags and declaration. */
import { again, argument, type FlagsOf, text, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, REMOTE_TIMEOUT } from "../flags.ts";

const SYNC_FLAGS = {
  ...COMMON_FLAGS,
  remote: again(REMOTE, "the remote: s3://BUCKET/PREFIX"),
  keepMineAs: text(
    "--keep-mine-as <id>",
    "if both went different ways: make mine a fork with this id, then follow the remote",
  ),
  timeout: REMOTE_TIMEOUT,
  dryRun: DRY_RUN,
};
export type SyncFlags = FlagsOf<typeof SYNC_FLAGS>;

export const SYNC_VERB: Verb = verb({
  name: "sync",
  about: "put the turns that a remote lacks, and fetch what is missing here",
  arguments: [
    argument("[id]", "session id, unambiguous prefix, @last, or the whole id of one there (default: all)"),
  ],
  flags: SYNC_FLAGS,
  examples: [
    "reprise sync @last --remote s3://my-bucket/sessions",
    "reprise sync fix-ci-7k2m --keep-mine-as fix-ci-mine",
  ],
  load: async () => (await import("./sync.ts")).syncVerb,
});

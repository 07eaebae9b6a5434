/**
 * The verbs that exchange sessions with a remote.
 *
 * @module
 */
import { again, argument, type FlagsOf, text, toggle, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, seconds } from "../flags.ts";

const TIMEOUT = value("--timeout <seconds>", "the time that one operation of the remote may take", seconds, {
  fallback: 60,
});

const TARGET = again(REMOTE, "the remote: s3://BUCKET/PREFIX");

const PUSH_FLAGS = {
  ...COMMON_FLAGS,
  remote: TARGET,
  all: toggle("--all", "put every session of this home"),
  timeout: TIMEOUT,
  dryRun: DRY_RUN,
};
/** The flags of `push`. */
export type PushFlags = FlagsOf<typeof PUSH_FLAGS>;

const PULL_FLAGS = {
  ...COMMON_FLAGS,
  remote: TARGET,
  all: toggle("--all", "fetch every session of the remote", { conflicts: ["keepMineAs"] }),
  keepMineAs: text(
    "--keep-mine-as <id>",
    "if both went different ways: make mine a fork with this id, then follow the remote",
  ),
  timeout: TIMEOUT,
  dryRun: DRY_RUN,
};
/** The flags of `pull`. */
export type PullFlags = FlagsOf<typeof PULL_FLAGS>;

/** The declarations. */
export const REMOTE_VERBS: readonly Verb[] = [
  verb({
    name: "push",
    about: "put the turns that a remote lacks; changes nothing if it went another way",
    arguments: [argument("[id]", "session id, unambiguous prefix, @last, or @last:any")],
    flags: PUSH_FLAGS,
    examples: ["reprise push @last --remote s3://my-bucket/sessions", "reprise push --all"],
    load: async () => (await import("./push.ts")).pushVerb,
  }),
  verb({
    name: "pull",
    about: "fetch the turns that a remote has and this home lacks",
    arguments: [argument("[id]", "the whole id of a session on the remote")],
    flags: PULL_FLAGS,
    examples: [
      "reprise pull fix-ci-7k2m --remote s3://my-bucket/sessions",
      "reprise pull fix-ci-7k2m --keep-mine-as fix-ci-mine",
    ],
    load: async () => (await import("./pull.ts")).pullVerb,
  }),
];

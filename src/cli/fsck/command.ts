/** `reprise fsck`: flags and declaration. */
import { again, argument, type FlagsOf, toggle, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, ON_REMOTE, REMOTE_TIMEOUT, SESSION } from "../flags.ts";

const FSCK_FLAGS = {
  ...COMMON_FLAGS,
  all: toggle("--all", "check every session"),
  requests: toggle("--requests", "also fold every recorded request again, and compare it with the sent one"),
  remote: again(ON_REMOTE, `check the copies ${ON_REMOTE.about}`),
  timeout: REMOTE_TIMEOUT,
};
export type FsckFlags = FlagsOf<typeof FSCK_FLAGS>;

export const FSCK_VERB: Verb = verb({
  name: "fsck",
  about: "check files of sessions, and with --requests what was sent",
  step: true,
  arguments: [argument("[id]", SESSION.about)],
  flags: FSCK_FLAGS,
  examples: ["reprise fsck --all", "reprise fsck @last --requests"],
  load: async () => (await import("./fsck.ts")).fsckVerb,
});

/** `reprise interrupt`: flags and declaration. */
import { again, type FlagsOf, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, SESSION, WAIT } from "../flags.ts";

const INTERRUPT_FLAGS = {
  ...COMMON_FLAGS,
  remote: again(REMOTE, "the remote of the session, which gets the end of a killed run: s3://BUCKET/PREFIX"),
  wait: again(WAIT, "the time to wait for it to stop", { fallback: 30 }),
  dryRun: again(DRY_RUN, "print what would be done; do nothing"),
};
export type InterruptFlags = FlagsOf<typeof INTERRUPT_FLAGS>;

export const INTERRUPT_VERB: Verb = verb({
  name: "interrupt",
  about: "stop the process that writes to a session, or close a killed run",
  step: true,
  arguments: [SESSION],
  flags: INTERRUPT_FLAGS,
  examples: ["reprise interrupt fix-ci-7k2m"],
  load: async () => (await import("./interrupt.ts")).interruptVerb,
});

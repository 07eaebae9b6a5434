/** `reprise rename`: flags and declaration. */
import { argument, type FlagsOf, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, REMOTE, SESSION, WAIT } from "../flags.ts";

const RENAME_FLAGS = { ...COMMON_FLAGS, remote: REMOTE, wait: WAIT, dryRun: DRY_RUN };
export type RenameFlags = FlagsOf<typeof RENAME_FLAGS>;

export const RENAME_VERB: Verb = verb({
  name: "rename",
  about: "give a session a title",
  step: true,
  arguments: [SESSION, argument("<title>", "the title: one line, at most 80 characters")],
  flags: RENAME_FLAGS,
  examples: ['reprise rename @last "Fix the CI build"'],
  load: async () => (await import("./rename.ts")).renameVerb,
});

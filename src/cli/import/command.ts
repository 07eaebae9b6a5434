/** `reprise import`: flags and declaration. */
import { again, argument, type FlagsOf, text, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN } from "../flags.ts";

const IMPORT_FLAGS = {
  ...COMMON_FLAGS,
  trustOrigin: text("--trust-origin <url>", "base URL that issued the reasoning of another agent's session"),
  dryRun: again(DRY_RUN, "check the whole file; change nothing"),
};
export type ImportFlags = FlagsOf<typeof IMPORT_FLAGS>;

export const IMPORT_VERB: Verb = verb({
  name: "import",
  about: "restore an export, or import a session of another agent",
  arguments: [argument("<file>", 'an export, or a session of another agent; "-" reads stdin')],
  flags: IMPORT_FLAGS,
  examples: ["reprise import fix-ci.jsonl", "reprise import ~/.codex/sessions/2026/11/25/rollout-….jsonl"],
  load: async () => (await import("./import.ts")).importVerb,
});

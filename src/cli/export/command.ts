/** `reprise export`: flags and declaration. */
import { AGENT_NAMES } from "../../agents/agent_session.ts";
import { again, argument, choice, type FlagsOf, text, toggle, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, SESSION } from "../flags.ts";

const EXPORT_FLAGS = {
  ...COMMON_FLAGS,
  redact: toggle(
    "--redact",
    "strip keys, tokens and passwords from texts, and the secrets of the environment",
  ),
  to: choice(
    "--to <agent>",
    "write the conversation as a new file of another agent, without reasoning",
    AGENT_NAMES,
  ),
  output: text("-o, --output <file>", "with --to: the new file"),
  force: toggle("--force", "replace an existing file"),
  dryRun: again(DRY_RUN, "list what would be written; write nothing"),
};
export type ExportFlags = FlagsOf<typeof EXPORT_FLAGS>;

export const EXPORT_VERB: Verb = verb({
  name: "export",
  about: "write a session to one checksummed file",
  arguments: [SESSION, argument("[file]", 'the file to write (default, and "-": stdout)')],
  flags: EXPORT_FLAGS,
  examples: [
    "reprise export fix-ci-7k2m fix-ci.jsonl",
    "reprise export @last --redact | gzip > last.jsonl.gz",
    "reprise export @last --to claude -o last.jsonl",
  ],
  load: async () => (await import("./export.ts")).exportVerb,
});

/** `reprise config`: flags and declaration. */
import { again, argument, type FlagsOf, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN } from "../flags.ts";

const CONFIG_FLAGS = {
  json: COMMON_FLAGS.json,
  quiet: COMMON_FLAGS.quiet,
  color: COMMON_FLAGS.color,
  debug: COMMON_FLAGS.debug,
  dryRun: again(DRY_RUN, "check the value; write nothing"),
};
export type ConfigFlags = FlagsOf<typeof CONFIG_FLAGS>;

export const CONFIG_VERB: Verb = verb({
  name: "config",
  about: "print or change the user's config.json",
  usage: "[options] list | get <name> | set <name> [values...] | path",
  arguments: [
    argument("<action>", "list, get, set or path"),
    argument("[name]", "such as model, models.anthropic, allow, profiles.work.base_url"),
    argument("[values...]", "the value to set, several for allow and deny; none removes the member"),
  ],
  flags: CONFIG_FLAGS,
  examples: [
    "reprise config set models.anthropic claude-sonnet-4",
    "reprise config set allow 'shell:git status' 'write:src/**'",
    "reprise config list",
  ],
  load: async () => (await import("./config.ts")).configVerb,
});

/** `reprise search`: flags and declaration. */
import { argument, type FlagsOf, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS } from "../flags.ts";
import { FILTER_FLAGS } from "../session_filter.ts";

const SEARCH_FLAGS = { ...COMMON_FLAGS, ...FILTER_FLAGS };
export type SearchFlags = FlagsOf<typeof SEARCH_FLAGS>;

export const SEARCH_VERB: Verb = verb({
  name: "search",
  about: "find a text in prompts, answers, tool calls and outputs",
  step: true,
  arguments: [argument("<text>", "the text, in upper or lower case")],
  flags: SEARCH_FLAGS,
  examples: ['reprise search "exit code 137"', "reprise search parse_args --since 7d --json"],
  load: async () => (await import("./search.ts")).searchVerb,
});

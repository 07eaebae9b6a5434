/** `reprise explain`: flags and declaration. */
import { type FlagsOf, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, REQUEST_FLAGS, SESSION } from "../flags.ts";

const EXPLAIN_FLAGS = {
  ...COMMON_FLAGS,
  model: REQUEST_FLAGS.model,
  provider: REQUEST_FLAGS.provider,
  baseUrl: REQUEST_FLAGS.baseUrl,
  replay: REQUEST_FLAGS.replay,
};
export type ExplainFlags = FlagsOf<typeof EXPLAIN_FLAGS>;

export const EXPLAIN_VERB: Verb = verb({
  name: "explain",
  about: "list which reasoning items the next request has, and why",
  step: true,
  arguments: [SESSION],
  flags: EXPLAIN_FLAGS,
  examples: ["reprise explain @last --model gpt-5.6"],
  load: async () => (await import("./explain.ts")).explainVerb,
});

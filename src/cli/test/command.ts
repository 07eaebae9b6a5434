/** `reprise test`: flags and declaration. */
import { argument, choice, type FlagsOf, text, toggle, value, verb } from "../declare.ts";
import { COMMON_FLAGS, wholeNumber } from "../flags.ts";

const TEST_FLAGS = {
  ...COMMON_FLAGS,
  update: toggle("--update", "rewrite requests and expect/ to match the sessions"),
  reporter: choice(
    "--reporter <reporter>",
    "the format of the results (default: text on a terminal, else tap; with --json: json)",
    ["text", "tap", "junit", "json"],
  ),
  name: text("-k, --name <text>", "play only the tests with this text in their path"),
  bail: toggle("--bail", "stop at the first test that fails"),
  jobs: value(
    "--jobs <n>",
    "play N tests at a time (default: one per processor, at most 8)",
    wholeNumber(1),
  ),
};
export type TestFlags = FlagsOf<typeof TEST_FLAGS>;

export const TEST_VERB = verb({
  name: "test",
  about: "play recorded sessions again, and compare requests and files",
  arguments: [argument("<dirs...>", "folders with a session.json, or their parent folders")],
  flags: TEST_FLAGS,
  examples: [
    "reprise test tests/sessions",
    "reprise test tests/sessions -k fork --update",
  ],
  load: async () => (await import("./test.ts")).testVerb,
});

/**
 * The verbs of `reprise fixture`: inspect and change fixtures, and import other tools' recordings.
 *
 * @module
 */
import { again, argument, type FlagsOf, text, toggle, value, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS, days, DRY_RUN, REQUEST_FLAGS, wholeNumber } from "../flags.ts";

/** The flags of `fixture ls`. */
export type FixtureLsFlags = FlagsOf<typeof COMMON_FLAGS>;

const SHOW_FLAGS = {
  ...COMMON_FLAGS,
  exchange: value("--exchange <n>", "this exchange alone", wholeNumber(1)),
};
/** The flags of `fixture show`. */
export type FixtureShowFlags = FlagsOf<typeof SHOW_FLAGS>;

const LINT_FLAGS = {
  ...COMMON_FLAGS,
  maxAge: value("--max-age <days>", "an error where a fixture was recorded longer ago", days),
};
/** The flags of `fixture lint`. */
export type FixtureLintFlags = FlagsOf<typeof LINT_FLAGS>;

const REDACT_FLAGS = {
  ...COMMON_FLAGS,
  dryRun: again(DRY_RUN, "say what would be replaced; write nothing"),
};
/** The flags of `fixture redact`. */
export type FixtureRedactFlags = FlagsOf<typeof REDACT_FLAGS>;

const DIFF_FLAGS = {
  ...COMMON_FLAGS,
  exchange: text("--exchange <n:m>", "exchange N of the first with M of the second; N alone means both"),
};
/** The flags of `fixture diff`. */
export type FixtureDiffFlags = FlagsOf<typeof DIFF_FLAGS>;

const IMPORT_FLAGS = {
  ...COMMON_FLAGS,
  provider: again(
    { ...REQUEST_FLAGS.provider, sources: [] },
    "whose API it was (default: seen from the recording)",
  ),
  keepCut: toggle("--keep-cut", "keep streams without their terminal event too, marked so"),
  dryRun: again(DRY_RUN, "say what would be written; write nothing"),
};
/** The flags of `fixture import`. */
export type FixtureImportFlags = FlagsOf<typeof IMPORT_FLAGS>;

const SEAL_FLAGS = { ...COMMON_FLAGS, dryRun: again(DRY_RUN, "say what has changed; write nothing") };
/** The flags of `fixture seal`. */
export type FixtureSealFlags = FlagsOf<typeof SEAL_FLAGS>;

const FIXTURE = argument("<dir>", "the fixture");

/** The declarations. */
export const FIXTURE_VERBS: readonly Verb[] = [
  verb({
    name: "ls",
    about: "list the fixtures in folders and below",
    arguments: [argument("<dirs...>", "folders")],
    flags: COMMON_FLAGS,
    examples: ["reprise fixture ls fixtures"],
    load: async () => (await import("../verbs/fixture/ls.ts")).fixtureLsVerb,
  }),
  verb({
    name: "show",
    about: "a timeline of what was asked and answered, event by event",
    arguments: [FIXTURE],
    flags: SHOW_FLAGS,
    examples: ["reprise fixture show fixtures/chat --exchange 2"],
    load: async () => (await import("../verbs/fixture/show.ts")).fixtureShowVerb,
  }),
  verb({
    name: "lint",
    about: "look for what is wrong: format, sums, secrets, broken rules, missing ends, age",
    arguments: [argument("<dirs...>", "fixtures, or folders that hold such")],
    flags: LINT_FLAGS,
    examples: ["reprise fixture lint fixtures --max-age 180"],
    load: async () => (await import("../verbs/fixture/lint.ts")).fixtureLintVerb,
  }),
  verb({
    name: "redact",
    about: "replace secrets in a fixture that exists, and seal it",
    arguments: [FIXTURE],
    flags: REDACT_FLAGS,
    examples: ["reprise fixture redact fixtures/chat --dry-run"],
    load: async () => (await import("../verbs/fixture/redact.ts")).fixtureRedactVerb,
  }),
  verb({
    name: "diff",
    about: "compare two recordings of one conversation: identical, benign or breaking",
    arguments: [
      argument("<a>", "the older fixture"),
      argument("[b]", "the newer one; without it two exchanges of the first are compared"),
    ],
    flags: DIFF_FLAGS,
    examples: ["reprise fixture diff fixtures/chat /tmp/new", "reprise fixture diff a --exchange 1:2"],
    load: async () => (await import("../verbs/fixture/diff.ts")).fixtureDiffVerb,
  }),
  verb({
    name: "import",
    about: "make a fixture from a VCR cassette, a .chunks.txt, or a recorded body",
    arguments: [
      argument("<file>", "the recording"),
      argument("<dir>", "the fixture to write: a folder that is new or empty"),
    ],
    flags: IMPORT_FLAGS,
    examples: ["reprise fixture import tests/cassettes/chat.yaml fixtures/chat"],
    load: async () => (await import("../verbs/fixture/import.ts")).fixtureImportVerb,
  }),
  verb({
    name: "seal",
    about: "take a fixture's files as they are now, after an edit by hand",
    arguments: [FIXTURE],
    flags: SEAL_FLAGS,
    examples: ["reprise fixture seal fixtures/chat"],
    load: async () => (await import("../verbs/fixture/seal.ts")).fixtureSealVerb,
  }),
];

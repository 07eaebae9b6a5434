/**
 * The verbs that inspect sessions and the environment; they change nothing.
 *
 * @module
 */
import { argument, type FlagsOf, text, toggle, value, type Verb, verb, without } from "../declare.ts";
import { COMMON_FLAGS, SESSION, wholeNumber } from "../flags.ts";
import { FIRST_REQUEST_FLAGS } from "../run/command.ts";

const LS_FLAGS = {
  ...COMMON_FLAGS,
  tree: toggle("--tree", "show forks under their parent sessions"),
  since: text("--since <when>", "only sessions changed since then: a date, or an age such as 12h or 7d"),
  limit: value("--limit <n>", "at most N sessions", wholeNumber(1)),
};
/** The flags of `ls`. */
export type LsFlags = FlagsOf<typeof LS_FLAGS>;

const SHOW_FLAGS = {
  ...COMMON_FLAGS,
  turns: toggle("--turns", "one line for each turn", { conflicts: ["events", "raw"] }),
  events: toggle("--events", "one line for each event", { conflicts: ["turns", "raw"] }),
  raw: value("--raw <n>", "the file of turn N, byte for byte", wholeNumber(1)),
};
/** The flags of `show`. */
export type ShowFlags = FlagsOf<typeof SHOW_FLAGS>;

const INPUT_FLAGS = {
  ...FIRST_REQUEST_FLAGS,
  prompt: text("--prompt <text>", "the next prompt"),
};
/** The flags of `input`. */
export type InputFlags = FlagsOf<typeof INPUT_FLAGS>;

const EXPLAIN_FLAGS = without(FIRST_REQUEST_FLAGS, [
  "session",
  "continue",
  "new",
  "workspace",
  "maxTokens",
  "autoCompact",
]);
/** The flags of `explain`. */
export type ExplainFlags = FlagsOf<typeof EXPLAIN_FLAGS>;

const VERIFY_FLAGS = { ...COMMON_FLAGS, all: toggle("--all", "verify every session") };
/** The flags of `verify`. */
export type VerifyFlags = FlagsOf<typeof VERIFY_FLAGS>;

const DOCTOR_FLAGS = {
  ...FIRST_REQUEST_FLAGS,
  live: toggle("--live", "send one short request to the API"),
};
/** The flags of `doctor`. */
export type DoctorFlags = FlagsOf<typeof DOCTOR_FLAGS>;

/** The declarations. */
export const INSPECTION_VERBS: readonly Verb[] = [
  verb({
    name: "ls",
    about: "list sessions, newest first",
    step: true,
    arguments: [],
    flags: LS_FLAGS,
    examples: ["reprise ls --since 7d --json", "reprise ls --tree"],
    load: async () => (await import("./ls.ts")).lsVerb,
  }),
  verb({
    name: "show",
    about: "print a session as a transcript",
    step: true,
    arguments: [SESSION],
    flags: SHOW_FLAGS,
    examples: ["reprise show @last", "reprise show fix-ci-7k2m --raw 2"],
    load: async () => (await import("./show.ts")).showVerb,
  }),
  verb({
    name: "input",
    about: "print the exact request body that a run with the same flags would send",
    step: true,
    arguments: [argument("[id]", `${SESSION.about}; none: the session that -s, -c or --new names`)],
    flags: INPUT_FLAGS,
    examples: [
      "reprise input @last | jq '.input | length'",
      'reprise input -c --allow write --prompt "And now?"',
    ],
    load: async () => (await import("./input.ts")).inputVerb,
  }),
  verb({
    name: "explain",
    about: "list for each reasoning item whether it is sent, and why",
    step: true,
    arguments: [SESSION],
    flags: EXPLAIN_FLAGS,
    examples: ["reprise explain @last --model gpt-5.6"],
    load: async () => (await import("./explain.ts")).explainVerb,
  }),
  verb({
    name: "verify",
    about: "rebuild every recorded request and compare it with the sent one",
    step: true,
    arguments: [argument("[id]", SESSION.about)],
    flags: VERIFY_FLAGS,
    examples: ["reprise verify @last", "reprise verify --all --json"],
    load: async () => (await import("./verify.ts")).verifyVerb,
  }),
  verb({
    name: "doctor",
    about: "show the environment, and the source of each setting",
    arguments: [],
    flags: DOCTOR_FLAGS,
    examples: ["reprise doctor --json"],
    load: async () => (await import("./doctor.ts")).doctorVerb,
  }),
];

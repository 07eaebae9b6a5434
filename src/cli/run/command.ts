/** The verbs that write turns: runs, checkpoints, forks. */
import { MATCH_MODES } from "../../fixture/match/modes.ts";
import {
  again,
  argument,
  choice,
  type FlagsOf,
  list,
  text,
  toggle,
  value,
  type Verb,
  verb,
} from "../declare.ts";
import {
  BLOBS,
  COMMON_FLAGS,
  dollars,
  DRY_RUN,
  PERMISSION_FLAGS,
  REMOTE,
  REQUEST_FLAGS,
  seconds,
  SESSION,
  STDIN,
  TEXT_FLAGS,
  TRANSPORT,
  WAIT,
  wholeNumber,
} from "../flags.ts";

/** The flags about a played fixture, whose own match rules count. */
const FIXTURE_FLAGS = {
  fixture: text("--fixture <dir>", "play recorded responses; opens no connection", {
    step: false,
    repeats: true,
  }),
  match: choice(
    "--match <mode>",
    "with --fixture: how strictly a request must match (default: semantic)",
    MATCH_MODES,
    { step: false, repeats: true },
  ),
};
export type FixtureFlags = FlagsOf<typeof FIXTURE_FLAGS>;

export const RUN_FLAGS = {
  ...COMMON_FLAGS,
  ...REQUEST_FLAGS,
  transport: TRANSPORT,
  remote: REMOTE,
  takeOver: toggle("--take-over", "end an open run of another machine, although it may still work", {
    step: false,
  }),
  session: text(
    "-s, --session <id>",
    "the session to continue: id, prefix or @last; with --new: the id of the new one",
  ),
  continue: toggle("-c, --continue", "continue the latest session of this workspace (-s @last)"),
  new: toggle("--new", "start a new session (the default without -s and -c)"),
  instructions: again(
    TEXT_FLAGS.instructions,
    "the system prompt, or @FILE (the session's, or a built-in one)",
  ),
  attach: list("--attach <file>", "an image, a PDF or a text file for the model to see; repeatable"),
  workspace: text(
    "-w, --workspace <dir>",
    "the directory that tools may read (default: the working directory)",
    { step: false, repeats: true },
  ),
  ...PERMISSION_FLAGS,
  acceptDrift: toggle(
    "--accept-drift",
    "do not report changes since the last run, and continue under REPRISE_STRICT_DRIFT",
  ),
  verbose: toggle("--verbose", "print on stderr how much reasoning each request replays"),
  failOnDenied: toggle("--fail-on-denied", "exit with 3 if a call is denied", {
    step: "recorded",
    repeats: true,
  }),
  maxSteps: value("--max-steps <n>", "at most N requests", wholeNumber(1), {
    fallback: 50,
    step: "recorded",
    repeats: true,
  }),
  maxTokens: value("--max-tokens <n>", "at most N input and output tokens in this run", wholeNumber(1), {
    step: "recorded",
    repeats: true,
  }),
  maxCost: value("--max-cost <usd>", "at most this cost of the run, in US dollars (docs/run.md)", dollars, {
    step: false,
    repeats: true,
  }),
  autoCompact: value(
    "--auto-compact <tokens>",
    "write a checkpoint before a request if the last one had more input tokens, or after an overflow",
    wholeNumber(1),
    { step: "recorded", repeats: true },
  ),
  timeout: value("--timeout <seconds>", "the time limit of the run, reading stdin included", seconds, {
    fallback: 1800,
    repeats: true,
  }),
  wait: WAIT,
  stdin: STDIN,
  stdinWait: value(
    "--stdin-wait <seconds>",
    "the time to wait for the first byte of stdin; 0 waits as long as --timeout (default: 30, or 0 if there is no other prompt)",
    seconds,
  ),
  outputSchema: TEXT_FLAGS.outputSchema,
  stream: toggle(
    "--stream",
    "print text of the model as it comes; incomplete if the run fails (default on a terminal)",
    { step: false, conflicts: ["json"] },
  ),
  blobs: BLOBS,
  output: text("-o, --output <file>", "write the answer to a file if the run completes", { step: false }),
  ...FIXTURE_FLAGS,
  record: text("--record <dir>", "keep the run as a fixture, in a new or empty folder", {
    step: false,
  }),
  notSecret: list(
    "--not-secret <name>",
    "a variable whose value is not secret: --record and the outputs of tools keep it",
  ),
  dryRun: again(DRY_RUN, "print what would be sent; change and send nothing"),
  body: toggle("--body", "with --dry-run: print the exact body of the next request"),
};
export type RunFlags = FlagsOf<typeof RUN_FLAGS>;

const INTERRUPT_FLAGS = {
  ...COMMON_FLAGS,
  remote: again(REMOTE, "the remote of the session, which gets the end of a killed run: s3://BUCKET/PREFIX"),
  wait: again(WAIT, "the time to wait for it to stop", { fallback: 30 }),
  dryRun: again(DRY_RUN, "print what would be done; do nothing"),
};
export type InterruptFlags = FlagsOf<typeof INTERRUPT_FLAGS>;

const COMPACT_FLAGS = {
  ...COMMON_FLAGS,
  ...REQUEST_FLAGS,
  remote: REMOTE,
  tailEvents: value("--tail-events <n>", "the number of newest events to keep unchanged", wholeNumber(0), {
    fallback: 80,
  }),
  strategy: choice(
    "--strategy <strategy>",
    "the writer of the checkpoint: a rule, or the model",
    ["deterministic", "model"],
    { fallback: "deterministic" },
  ),
  ...FIXTURE_FLAGS,
  undo: toggle("--undo", "withdraw the latest checkpoint: the events that it replaced are sent again", {
    conflicts: ["tailEvents", "strategy", "fixture"],
  }),
  wait: WAIT,
  dryRun: again(DRY_RUN, "print the plan; change and send nothing"),
};
export type CompactFlags = FlagsOf<typeof COMPACT_FLAGS>;

const OMIT_FLAGS = {
  ...COMMON_FLAGS,
  remote: REMOTE,
  seq: list("--seq <list>", "the seq of each item, with commas or repeated"),
  part: value(
    "--part <n>",
    "only this part of the one message in --seq: its files first, from 1",
    wholeNumber(1),
  ),
  undo: toggle("--undo", "send again what --seq names, or what the latest omit took out"),
  wait: WAIT,
  dryRun: again(DRY_RUN, "print the next request's difference in items and tokens; change nothing"),
};
export type OmitFlags = FlagsOf<typeof OMIT_FLAGS>;

const FORK_FLAGS = {
  ...COMMON_FLAGS,
  remote: REMOTE,
  toSeq: value(
    "--to-seq <n>",
    "the last event to keep: the last of a turn (default: the newest possible)",
    wholeNumber(1),
  ),
  summarize: toggle("--summarize", "give the model a summary of what the other session did next"),
  dryRun: again(DRY_RUN, "list what would be kept; change nothing"),
};
export type ForkFlags = FlagsOf<typeof FORK_FLAGS>;

export const RUNNING_VERBS: readonly Verb[] = [
  verb({
    name: "run",
    about: "run the agent once, in a new session or in an existing one",
    step: true,
    arguments: [
      argument(
        "[prompt]",
        'the prompt; "-" reads it from stdin; without a prompt, -s or -c continues an unfinished run',
      ),
    ],
    flags: RUN_FLAGS,
    examples: [
      'reprise run "Why does the build fail?"',
      'git diff | reprise run "Review this"',
      'reprise run --attach shot.png --attach spec.pdf "Does the page follow the spec?"',
      'reprise run -c --allow write --allow "shell:deno task test" "Fix it"',
      'reprise run -c --dry-run --body "And now?" | jq .',
    ],
    load: async () => (await import("./run.ts")).runVerb,
  }),
  verb({
    name: "interrupt",
    about: "stop the process that writes to a session, or close a killed run",
    step: true,
    arguments: [SESSION],
    flags: INTERRUPT_FLAGS,
    examples: ["reprise interrupt fix-ci-7k2m"],
    load: async () => (await import("./interrupt.ts")).interruptVerb,
  }),
  verb({
    name: "compact",
    about: "replace older events by a checkpoint in later requests",
    step: true,
    arguments: [SESSION],
    flags: COMPACT_FLAGS,
    examples: [
      "reprise compact fix-ci-7k2m --dry-run --json",
      "reprise compact @last --strategy model --tail-events 40",
      "reprise compact @last --undo",
    ],
    load: async () => (await import("../maintenance/compact.ts")).compactVerb,
  }),
  verb({
    name: "omit",
    about: "take items out of later requests; they stay on disk",
    step: true,
    arguments: [SESSION],
    flags: OMIT_FLAGS,
    examples: [
      "reprise omit fix-ci-7k2m --seq 5,9 --dry-run",
      "reprise omit @last --seq 5 --part 1",
      "reprise omit fix-ci-7k2m --undo",
    ],
    load: async () => (await import("../maintenance/omit.ts")).omitVerb,
  }),
  verb({
    name: "fork",
    about: "start a new session from the beginning of another",
    step: true,
    arguments: [SESSION],
    flags: FORK_FLAGS,
    examples: ["reprise fork fix-ci-7k2m --to-seq 42"],
    load: async () => (await import("../maintenance/fork.ts")).forkVerb,
  }),
];

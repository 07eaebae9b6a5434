/** `reprise run`: flags and declaration. */
import { again, argument, type FlagsOf, list, text, toggle, value, type Verb, verb } from "../declare.ts";
import {
  BLOBS,
  COMMON_FLAGS,
  dollars,
  DRY_RUN,
  FIXTURE_FLAGS,
  PERMISSION_FLAGS,
  REMOTE,
  REQUEST_FLAGS,
  seconds,
  STDIN,
  TEXT_FLAGS,
  TRANSPORT,
  WAIT,
  wholeNumber,
} from "../flags.ts";

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
  maxCost: value("--max-cost <usd>", "at most this cost of the run, in US dollars", dollars, {
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

export const RUN_VERB: Verb = verb({
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
  groups: {
    "Session": ["session", "continue", "new", "wait", "acceptDrift", "remote", "takeOver"],
    "Model": [
      "model",
      "provider",
      "effort",
      "instructions",
      "baseUrl",
      "profile",
      "summary",
      "replay",
      "transport",
    ],
    "Permissions": ["allow", "deny", "ask", "failOnDenied", "workspace", "notSecret"],
    "Limits": ["maxSteps", "maxTokens", "maxCost", "timeout", "autoCompact"],
    "Input and output": [
      "attach",
      "outputSchema",
      "output",
      "stream",
      "stdin",
      "stdinWait",
      "blobs",
      "verbose",
    ],
    "Testing": ["dryRun", "body", "record", "fixture", "match"],
  },
  examples: [
    'reprise run "Why does the build fail?"',
    'git diff | reprise run "Review this"',
    'reprise run --attach shot.png --attach spec.pdf "Does the page follow the spec?"',
    'reprise run -c --allow write --allow "shell:deno task test" "Fix it"',
    'reprise run -c --dry-run --body "And now?" | jq .',
  ],
  load: async () => (await import("./run.ts")).runVerb,
});

/**
 * The verbs that make turns: runs, checkpoints, forks.
 *
 * @module
 */
import { Option } from "@commander-js/extra-typings";
import {
  type AddVerb,
  collect,
  example,
  type Finish,
  flag,
  requestOptions,
  seconds,
  sessionArgument,
  wholeNumber,
} from "../flags.ts";

/** Adds them. */
export function addRunningVerbs(verb: AddVerb, finish: Finish): void {
  const run = requestOptions(verb("run", "one run: of a new session, or the next one of a session"))
    .argument("[prompt]", 'what to say; "-" reads stdin; none with -s or -c goes on with an unfinished run')
    .option(
      "-s, --session <id>",
      "the session to go on with: id, prefix or @last; with --new: the new one's id",
    )
    .option("-c, --continue", "go on with the latest session of this workspace (-s @last)")
    .addOption(flag("--new", "begin a new session (the default without -s and -c)"))
    .option("--instructions <text>", "system text, or @FILE; a session keeps what it has")
    .option("-w, --workspace <dir>", "the directory that tools may read (default: the working directory)")
    .option("--allow <list>", "tools, groups (write, shell) or one pattern that the model may use", collect)
    .option(
      "--deny <list>",
      "tools, groups or one pattern that the model may not use; wins over --allow",
      collect,
    )
    .addOption(flag("--ask", "ask at the terminal about what is neither allowed nor denied"))
    .addOption(
      flag(
        "--accept-drift",
        "say nothing about what changed since the last run, and go on under REPRISE_STRICT_DRIFT",
      ),
    )
    .addOption(flag("--verbose", "one line on stderr for each request's reasoning replay"))
    .addOption(flag("--fail-on-denied", "end with exit code 3 when a call is denied"))
    .option("--max-steps <n>", "requests at most", wholeNumber(1), 50)
    .option("--max-tokens <n>", "input plus output tokens of this run at most", wholeNumber(1))
    .option(
      "--auto-compact <tokens>",
      "compact by rule before a request when the last one had more input tokens",
      wholeNumber(1),
    )
    .option("--timeout <seconds>", "how long the run may take, stdin included", seconds, 1800)
    .option("--wait <seconds>", "how long to wait for a session that another process writes", seconds, 0)
    .option("--output-schema <file>", "a JSON schema for the answer; the API alone enforces it")
    .option("-o, --output <file>", "write the answer to a file when the run completes")
    .option("--fixture <dir>", "play recorded responses in order; opens no connection");
  // Apart from the chain: with one option more in it, the compiler takes minutes to infer its type.
  run.option("--record <dir>", "keep the run as a fixture, in a folder that is new or empty");
  run.option("--not-secret <name>", "a variable whose value is no secret, with --record", collect);
  run.addOption(flag("--dry-run", "say what would be sent; change and send nothing"))
    .addHelpText(
      "after",
      example(
        'reprise run "Why does the build fail?"',
        'reprise run -c --allow write --allow "shell:deno task test" "Fix it"',
      ),
    )
    .action(async (prompt, flags) => finish(await (await import("../verbs/run.ts")).runVerb(prompt, flags)));

  verb("interrupt", "tell the process that writes to a session to stop; close a killed run")
    .addArgument(sessionArgument())
    .option("--wait <seconds>", "how long to wait for it to stop", seconds, 30)
    .addOption(flag("--dry-run", "say what would be done; do nothing"))
    .addHelpText("after", example("reprise interrupt fix-ci-7k2m"))
    .action(async (id, flags) =>
      finish(await (await import("../verbs/interrupt.ts")).interruptVerb(id, flags))
    );

  requestOptions(
    verb("compact", "write a checkpoint that stands for the older events in later requests"),
  )
    .addArgument(sessionArgument())
    .option("--tail-events <n>", "how many of the newest events stay as they are", wholeNumber(0), 80)
    .addOption(
      new Option(
        "--strategy <strategy>",
        "who makes it: a rule, the model, or the provider (/responses/compact)",
      )
        .choices(["deterministic", "model", "remote"]).default("deterministic" as const),
    )
    .option("--fixture <dir>", "play a recorded response; opens no connection")
    .option("--wait <seconds>", "how long to wait for a session that another process writes", seconds, 0)
    .addOption(flag("--dry-run", "print the plan; change and send nothing"))
    .addHelpText(
      "after",
      example(
        "reprise compact fix-ci-7k2m --dry-run --json",
        "reprise compact @last --strategy model --tail-events 40",
      ),
    )
    .action(async (id, flags) => finish(await (await import("../verbs/compact.ts")).compactVerb(id, flags)));

  verb("uncompact", "withdraw the latest checkpoint: what it stood for is sent again")
    .addArgument(sessionArgument())
    .option("--wait <seconds>", "how long to wait for a session that another process writes", seconds, 0)
    .addOption(flag("--dry-run", "say what would be done; change nothing"))
    .addHelpText("after", example("reprise uncompact fix-ci-7k2m"))
    .action(async (id, flags) =>
      finish(await (await import("../verbs/uncompact.ts")).uncompactVerb(id, flags))
    );

  verb("fork", "begin a new session from the start of another, which stays as it is")
    .addArgument(sessionArgument())
    .option(
      "--to-seq <n>",
      "the last event to keep: the last of a turn (default: the newest that can be)",
      wholeNumber(1),
    )
    .addOption(flag("--summarize", "tell the model what the other session went on to do"))
    .addOption(flag("--dry-run", "say what would be kept; change nothing"))
    .addHelpText("after", example("reprise fork fix-ci-7k2m --to-seq 42"))
    .action(async (id, flags) => finish(await (await import("../verbs/fork.ts")).forkVerb(id, flags)));
}

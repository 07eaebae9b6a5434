/**
 * The command line: every verb with its flags. A verb's code is loaded when it is called.
 *
 * @module
 */
import { Argument, Command, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { EXIT_CODES, type ExitCode } from "../domain/errors.ts";
import { PROVIDER_KINDS } from "../domain/fingerprint.ts";
import { VERSION } from "./version.ts";

/** What a finished verb is told to. */
export type Finish = (exitCode: ExitCode) => void;

/** Builds the whole command line; a verb that ran reports its exit code to `finish`. */
export function buildProgram(finish: Finish) {
  const program = new Command("reprise")
    .description("Keeps, replays and tests sessions with reasoning models over stateless APIs.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [verb]", "show help for a verb")
    .showSuggestionAfterError(true)
    .addHelpText("after", `\nExit codes:\n${exitCodeTable()}`)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });

  requestOptions(verb("run", "one run: of a new session, or the next one of a session"))
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
    .option("--output-schema <file>", "a JSON schema that the answer must fit")
    .option("-o, --output <file>", "write the answer to a file when the run completes")
    .option("--fixture <dir>", "play recorded responses in order; opens no connection")
    .addOption(flag("--dry-run", "say what would be sent; change and send nothing"))
    .addHelpText(
      "after",
      example(
        'reprise run "Why does the build fail?"',
        'reprise run -c --allow write --allow "shell:deno task test" "Fix it"',
      ),
    )
    .action(async (prompt, flags) => finish(await (await import("./verbs/run.ts")).runVerb(prompt, flags)));

  verb("interrupt", "tell the process that writes to a session to stop; close a killed run")
    .addArgument(sessionArgument())
    .option("--wait <seconds>", "how long to wait for it to stop", seconds, 30)
    .addOption(flag("--dry-run", "say what would be done; do nothing"))
    .addHelpText("after", example("reprise interrupt fix-ci-7k2m"))
    .action(async (id, flags) =>
      finish(await (await import("./verbs/interrupt.ts")).interruptVerb(id, flags))
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
    .action(async (id, flags) => finish(await (await import("./verbs/fork.ts")).forkVerb(id, flags)));

  verb("ls", "list sessions, newest first")
    .addOption(flag("--tree", "forks under the sessions that they were forked from"))
    .option("--since <when>", "only sessions touched since: a date, or an age such as 12h or 7d")
    .option("--limit <n>", "at most so many", wholeNumber(1))
    .addHelpText("after", example("reprise ls --since 7d --json", "reprise ls --tree"))
    .action(async (flags) => finish((await import("./verbs/ls.ts")).lsVerb(flags)));

  verb("show", "print a session as a transcript")
    .addArgument(sessionArgument())
    .addOption(flag("--turns", "one line for each turn").conflicts(["events", "raw"]))
    .addOption(flag("--events", "one line for each event").conflicts(["turns", "raw"]))
    .option("--raw <n>", "the file of turn N, byte for byte", wholeNumber(1))
    .addHelpText("after", example("reprise show @last", "reprise show fix-ci-7k2m --raw 2"))
    .action(async (id, flags) => finish((await import("./verbs/show.ts")).showVerb(id, flags)));

  requestOptions(verb("input", "print the exact request body that the next run would send"))
    .addArgument(sessionArgument())
    .option("--prompt <text>", "what the user would say next")
    .option("--allow <list>", "as for run: decides which tools are offered", collect)
    .option("--deny <list>", "as for run", collect)
    .addOption(flag("--ask", "as for run"))
    .option("--instructions <text>", "system text, or @FILE")
    .option("--output-schema <file>", "a JSON schema that the answer must fit")
    .addHelpText("after", example("reprise input @last | jq '.input | length'"))
    .action(async (id, flags) => finish((await import("./verbs/input.ts")).inputVerb(id, flags)));

  requestOptions(verb("explain", "say for each reasoning item whether it goes back, and why"))
    .addArgument(sessionArgument())
    .addHelpText("after", example("reprise explain @last --model gpt-5.6"))
    .action(async (id, flags) => finish((await import("./verbs/explain.ts")).explainVerb(id, flags)));

  verb("verify", "fold every recorded request again and compare it with what was sent")
    .argument("[id]", "session id, unambiguous prefix, or @last")
    .addOption(flag("--all", "verify every session"))
    .addHelpText("after", example("reprise verify @last", "reprise verify --all --json"))
    .action(async (id, flags) => finish((await import("./verbs/verify.ts")).verifyVerb(id, flags)));

  verb("repair", "mend what fsck finds; what is replaced is kept in quarantine/")
    .addArgument(sessionArgument())
    .addOption(flag("--lift-quarantine", "instead, send refused reasoning items again"))
    .option("--wait <seconds>", "how long to wait for a session that another process writes", seconds, 0)
    .addOption(flag("--dry-run", "say what would be done; change nothing"))
    .addHelpText("after", example("reprise repair fix-ci-7k2m --dry-run", "reprise repair fix-ci-7k2m"))
    .action(async (id, flags) => finish(await (await import("./verbs/repair.ts")).repairVerb(id, flags)));

  verb("fsck", "check a session's files; read-only")
    .argument("[id]", "session id, unambiguous prefix, or @last")
    .addOption(flag("--all", "check every session"))
    .addHelpText("after", example("reprise fsck --all"))
    .action(async (id, flags) => finish(await (await import("./verbs/fsck.ts")).fsckVerb(id, flags)));

  requestOptions(verb("compact", "write a checkpoint that stands for the older events in later requests"))
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
    .action(async (id, flags) => finish(await (await import("./verbs/compact.ts")).compactVerb(id, flags)));

  verb("uncompact", "withdraw the latest checkpoint: what it stood for is sent again")
    .addArgument(sessionArgument())
    .option("--wait <seconds>", "how long to wait for a session that another process writes", seconds, 0)
    .addOption(flag("--dry-run", "say what would be done; change nothing"))
    .addHelpText("after", example("reprise uncompact fix-ci-7k2m"))
    .action(async (id, flags) =>
      finish(await (await import("./verbs/uncompact.ts")).uncompactVerb(id, flags))
    );

  verb("export", "write a session to one file that vouches for itself")
    .addArgument(sessionArgument())
    .argument("[file]", 'where to; "-" or none is stdout')
    .addOption(flag("--redact", "strip keys, tokens and passwords from texts"))
    .addOption(flag("--dry-run", "say what would be written; write nothing"))
    .addHelpText(
      "after",
      example(
        "reprise export fix-ci-7k2m fix-ci.jsonl",
        "reprise export @last --redact | gzip > last.jsonl.gz",
      ),
    )
    .action(async (id, file, flags) =>
      finish((await import("./verbs/export.ts")).exportVerb(id, file, flags))
    );

  verb("import", "restore a session from an export; never overwrites one")
    .argument("<file>", 'the export; "-" reads stdin')
    .addOption(flag("--dry-run", "check the whole file; change nothing"))
    .addHelpText("after", example("reprise import fix-ci.jsonl"))
    .action(async (file, flags) => finish(await (await import("./verbs/import.ts")).importVerb(file, flags)));

  verb("rm", "delete a session; its forks stay whole")
    .addArgument(sessionArgument())
    .addOption(flag("--yes", "do not ask"))
    .addOption(flag("--dry-run", "say what would be deleted; delete nothing"))
    .addHelpText("after", example("reprise rm fix-ci-7k2m --yes"))
    .action(async (id, flags) => finish(await (await import("./verbs/rm.ts")).rmVerb(id, flags)));

  verb("prune", "delete sessions by age, number or size")
    .option("--older-than <days>", "those that were last written to longer ago", days)
    .option("--keep <n>", "all but the N newest", wholeNumber(0))
    .option("--max-size <bytes>", "the oldest, until the rest has at most so many bytes", wholeNumber(0))
    .addOption(flag("--yes", "do not ask"))
    .addOption(flag("--dry-run", "say what would be deleted; delete nothing"))
    .addHelpText("after", example("reprise prune --older-than 90 --dry-run"))
    .action(async (flags) => finish(await (await import("./verbs/prune.ts")).pruneVerb(flags)));

  verb("gc", "remove blobs that no turn names, and what killed processes left")
    .addOption(flag("--dry-run", "say what would be removed; remove nothing"))
    .addHelpText("after", example("reprise gc --dry-run"))
    .action(async (flags) => finish(await (await import("./verbs/gc.ts")).gcVerb(flags)));

  requestOptions(verb("doctor", "show the environment, and where each setting comes from"))
    .addOption(flag("--live", "send one tiny request to the API"))
    .addHelpText("after", example("reprise doctor --json"))
    .action(async (flags) => finish(await (await import("./verbs/doctor.ts")).doctorVerb(flags)));

  return program;

  function verb(name: string, description: string) {
    return program.command(name).description(description)
      .addOption(flag("--json", "data for programs: one JSON document, or JSON Lines where a verb streams"))
      .addOption(flag("--quiet", "no notices on stderr"))
      .option("--no-color", "no colour")
      .option(
        "--home <dir>",
        "where sessions live (REPRISE_HOME; default: reprise in the XDG data directory)",
      )
      .addOption(flag("--debug", "stack traces of unexpected errors"));
  }
}

function sessionArgument() {
  return new Argument("<id>", "session id, unambiguous prefix, or @last");
}

/** The flags that decide where the next request goes and how it is made. */
function requestOptions<Options extends Record<string, unknown>>(command: Command<[], Options>) {
  return command
    .option("-m, --model <model>", "the model to ask (the session's last, REPRISE_MODEL, config.json)")
    .addOption(
      new Option(
        "-p, --provider <provider>",
        "whose API it is (the session's last unless -m is given, REPRISE_PROVIDER, config.json; default: openai)",
      ).choices(PROVIDER_KINDS),
    )
    .option(
      "--base-url <url>",
      "where the API is (REPRISE_BASE_URL, the provider's own variable, config.json; default: the provider's)",
    )
    .option("--effort <effort>", "reasoning effort, such as low, medium, high")
    .option("--summary <summary>", "reasoning summary: auto, concise, detailed")
    .addOption(
      new Option("--replay <mode>", "which models' reasoning goes back: the same model's, the family's, none")
        .choices(["exact", "family", "none"]),
    )
    .option(
      "--replay-window <n>",
      "reasoning items from before the last user message at most",
      wholeNumber(0),
    )
    .option("--no-reasoning-replay", "send no earlier reasoning (REPRISE_REASONING_REPLAY=0)");
}

/** A list flag: repeatable, one value each. What commas mean is the posture's to say. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A switch: absent, or true. */
function flag<const Flags extends string>(flags: Flags, description: string) {
  return new Option(flags, description);
}

function example(...lines: readonly string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
  };
}

/** A timer counts milliseconds in 31 bits; what does not fit would fire at once. */
const MAX_SECONDS = 2_000_000;

function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError(`Expected a number of seconds, at most ${MAX_SECONDS}.`);
}

/** More than any clock can go back. */
const MAX_DAYS = 100_000;

function days(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= MAX_DAYS) return value;
  throw new InvalidArgumentError(`Expected a number of days, at most ${MAX_DAYS}.`);
}

function exitCodeTable(): string {
  return Object.entries(EXIT_CODES).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`).join("\n");
}

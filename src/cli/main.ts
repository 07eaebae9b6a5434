import { CommanderError } from "commander";
import { asRepriseError, RepriseError } from "../domain/errors.ts";
import { collectOrphans } from "../tools/shell/children.ts";
import { narrowProcessEnvironment } from "./environment.ts";
import { errorAtHome, homeIn } from "./hints.ts";
import { livePorts, type ProgramPorts } from "./live_ports.ts";
import { withVerbFirst } from "./leading_flags.ts";
import type { Verbs } from "./verbs.ts";
import type { ProgramPart } from "./start/begin.ts";
import { makeOutput } from "./context.ts";
import { parseCall, splitCommand, withCommand } from "./program.ts";

/**
 * Runs the command line and returns the exit code. The only place that turns errors into output. All inputs and outputs
 * go through `ports`.
 */
export async function main(
  argv: readonly string[],
  ports: ProgramPorts,
  verbs: Verbs,
): Promise<number> {
  let args = argv;
  try {
    const topic = argv[0] === "help" ? await topicHelp(argv[1]) : null;
    if (topic !== null) {
      makeOutput(ports, NO_FLAGS).text(topic);
      return 0;
    }
    args = withVerbFirst(argv, verbs);
    const { own, command } = splitCommand(verbs, args);
    const called = parseCall(ports, verbs, own.length === 0 ? ["--help"] : own);
    return await (await called.verb.load())(ports, ...withCommand(called, command) as never);
  } catch (error) {
    const known = await shownError(error, args, verbs);
    if (known === "shown") return argv.length === 0 ? 2 : 0;
    report(known, argv, ports);
    return known.exitCode;
  }
}

/** The help of a topic that is no verb; `null` for another word. */
async function topicHelp(topic: string | undefined): Promise<string | null> {
  switch (topic) {
    case "codes":
      return (await import("./help.ts")).codesHelp();
    case "faults":
      return (await import("./serve/help_topics.ts")).faultsHelp();
    case "rules":
      return (await import("./serve/help_topics.ts")).rulesHelp();
    default:
      return null;
  }
}

const NO_FLAGS = { json: undefined, quiet: undefined, color: true } as const;

/** Prepares this process first of all: hides variables from libraries, and handles the file size limit. */
function prepareProcess(): void {
  narrowProcessEnvironment();
  // With a handler, a write beyond `ulimit -f` fails with EFBIG, which is reported like other disk errors. Without one,
  // SIGXFSZ would end the process silently.
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGXFSZ", () => {});
  collectOrphans();
}

/** The error to report; `shown` if help or the version was printed. */
async function shownError(
  error: unknown,
  args: readonly string[],
  verbs: Verbs,
): Promise<RepriseError | "shown"> {
  if (!(error instanceof CommanderError)) {
    const known = asRepriseError(error);
    const isWrongCall = known.exitCode === 2 || known.code === "bad_fixture";
    if (/\breprise [a-z]/.test(known.hint ?? "") && !isWrongCall) return known;
    return (await import("./usage_error.ts")).withHelp(known, args, verbs);
  }
  // Help, also for a call without a verb, and the version.
  if (error.exitCode === 0) return "shown";
  return (await import("./usage_error.ts")).usageError(error, args, verbs);
}

function report(error: RepriseError, args: readonly string[], ports: ProgramPorts): void {
  const ended = args.indexOf("--");
  const flags = ended === -1 ? args : args.slice(0, ended);
  const output = makeOutput(ports, {
    json: flags.includes("--json") || undefined,
    quiet: undefined,
    color: !flags.includes("--no-color"),
  });
  output.error(errorAtHome(error, homeIn(flags)));
  if (flags.includes("--debug")) {
    const cause = error.cause instanceof Error ? error.cause : error;
    output.note(cause.stack ?? String(cause));
  }
}

/** The part of the program that knows these verbs. */
export function partWith(verbs: Verbs): ProgramPart["start"] {
  return (args, loadPriceTable) => {
    prepareProcess();
    return main(args, livePorts(loadPriceTable), verbs);
  };
}

import { asRepriseError, RepriseError } from "../domain/errors.ts";
import { narrowProcessEnvironment } from "./environment.ts";
import type { ProgramPorts } from "./live_ports.ts";
import type { Verbs } from "./load_verbs.ts";
import { makeOutput } from "./context.ts";
import { buildProgram, splitCommand } from "./program.ts";

/**
 * Runs the command line and returns the exit code. The only place that turns errors into output. All inputs and outputs
 * go through `ports`.
 *
 * @param load Loads the declarations that the call needs.
 */
export async function main(
  args: readonly string[],
  ports: ProgramPorts,
  load: (args: readonly string[]) => Promise<Verbs>,
): Promise<number> {
  let exitCode = 0;
  try {
    const verbs = await load(args);
    const { own, command } = splitCommand(verbs, args);
    const program = buildProgram({ ports, finish: (code) => exitCode = code }, verbs, own, command);
    await program.parseAsync(own.length === 0 ? ["--help"] : [...own], { from: "user" });
  } catch (error) {
    const known = commanderError(error, args) ?? asRepriseError(error);
    if (known === "shown") return args.length === 0 ? 2 : 0;
    report(known, args, ports);
    return known.exitCode;
  }
  return exitCode;
}

/** Prepares this process first of all: hides variables from libraries, and handles the file size limit. */
export function prepareProcess(): void {
  narrowProcessEnvironment();
  outliveFileSizeLimit();
}

/**
 * With a handler, a write beyond `ulimit -f` fails with EFBIG, which is reported like other disk errors. Without a
 * handler, SIGXFSZ would end the process silently.
 */
function outliveFileSizeLimit(): void {
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGXFSZ", () => {});
}

/** Reads an error of commander: help and version were shown, or the arguments are wrong. */
function commanderError(error: unknown, args: readonly string[]): RepriseError | "shown" | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  if (!error.code.startsWith("commander.")) return null;
  if (error.code === "commander.helpDisplayed" || error.code === "commander.version") return "shown";
  if (error.code === "commander.help") {
    if (!("exitCode" in error) || error.exitCode === 0) return "shown";
    if (args[0] !== "help") {
      return new RepriseError(
        "usage",
        `Cannot do anything with ${JSON.stringify(args[0])} alone: name one of its verbs`,
        {
          hint: `See "reprise ${args[0]} --help"`,
        },
      );
    }
    return new RepriseError(
      "usage",
      `Cannot show help for ${JSON.stringify(args[1] ?? "")}: there is no such verb`,
      {
        hint: 'See "reprise --help"',
      },
    );
  }
  const [message = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`.replace(/\.$/, "");
  return new RepriseError("usage", text, {
    hint: [...suggestions, 'See "reprise --help"'].join(" ").replace(/^\((.*)\)/, "$1."),
  });
}

function report(error: RepriseError, args: readonly string[], ports: ProgramPorts): void {
  const ended = args.indexOf("--");
  const flags = ended === -1 ? args : args.slice(0, ended);
  const output = makeOutput(ports, {
    json: flags.includes("--json") || undefined,
    quiet: undefined,
    color: !flags.includes("--no-color"),
  });
  output.error(error);
  if (flags.includes("--debug")) {
    const cause = error.cause instanceof Error ? error.cause : error;
    output.note(cause.stack ?? String(cause));
  }
}

/**
 * The command line of a call. Calling a verb loads its code.
 *
 * @module
 */
import { Command } from "commander";
import { EXIT_CODES, RepriseError } from "../domain/errors.ts";
import { type Verb, WRAPPED_COMMAND } from "./declare.ts";
import { COMMON_FLAGS } from "./flags.ts";
import type { ProgramPorts } from "./live_ports.ts";
import type { Verbs } from "./load_verbs.ts";
import { Output } from "./output.ts";
import { declareVerb } from "./parser.ts";
import { VERSION } from "../domain/version.ts";

/** Width of the help in columns, on any terminal. */
const HELP_WIDTH = 80;

/** Receives the exit code of a finished verb, or of the command that it ran. */
export type Finish = (exitCode: number) => void;

/** One call of the program: its ports, and the receiver of its exit code. */
export interface Call {
  readonly ports: ProgramPorts;
  readonly finish: Finish;
}

/**
 * Builds the command line for `args`; a verb reports its exit code to `finish`. `command` is the wrapped command: the
 * arguments after `--`. Verbs that `args` do not name get one flag only, because building all flags is slow.
 */
export function buildProgram(
  { ports, finish }: Call,
  { top, fixture }: Verbs,
  args: readonly string[],
  command: readonly string[] = [],
): Command {
  const helpOutput = new Output({ json: false, quiet: false, colour: false }, ports);
  const program = new Command("reprise")
    .description(
      "Record, replay and test LLM traffic. Keep agent sessions as plain files, with their reasoning.",
    )
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [verb]", "show help for a verb")
    .showSuggestionAfterError(true)
    .addHelpText("after", `\nExit codes:\n${exitCodeTable()}`)
    .exitOverride()
    .configureOutput({
      writeErr: () => {},
      writeOut: (text) => helpOutput.text(text),
      getOutHelpWidth: () => HELP_WIDTH,
    });

  const perform = async ({ arguments: declared, load }: Verb, values: readonly unknown[]) => {
    const given = [...values];
    const wrapped = declared.indexOf(WRAPPED_COMMAND);
    if (wrapped !== -1) given.splice(wrapped, 0, command);
    finish(await (await load())(ports, ...given as never));
  };
  const add = (parent: Command, verb: Verb) => {
    // One flag, so that the list of verbs says "[options]".
    const declared = args.includes(verb.name) ? verb : { ...verb, flags: { json: COMMON_FLAGS.json } };
    declareVerb(parent.command(verb.name), declared, perform);
  };
  for (const verb of top) add(program, verb);
  if (fixture.length > 0) {
    const parent = program.command("fixture").description("inspect and maintain fixtures");
    for (const verb of fixture) add(parent, verb);
  }
  return program;
}

/**
 * Splits the command line into its own arguments and the wrapped command.
 *
 * @throws {RepriseError} `usage` when `--` is the last argument: without a command the verb would listen until a signal.
 */
export function splitCommand(
  { top }: Verbs,
  args: readonly string[],
): { readonly own: readonly string[]; readonly command: readonly string[] } {
  const verb = top.find(({ name }) => name === args[0]);
  const cut = verb?.arguments.includes(WRAPPED_COMMAND) ? args.indexOf("--") : -1;
  if (cut !== -1 && cut === args.length - 1) {
    throw new RepriseError("usage", "No command after --", {
      hint: "Did a shell variable expand to nothing? Leave -- out to serve or record until SIGTERM",
    });
  }
  return cut === -1 ? { own: args, command: [] } : { own: args.slice(0, cut), command: args.slice(cut + 1) };
}

function exitCodeTable(): string {
  return Object.entries(EXIT_CODES).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`).join("\n");
}

/** The command line of a call. Calling a verb loads its code. */
import { Command } from "commander";
import { RepriseError } from "../domain/errors.ts";
import { type Verb, WRAPPED_COMMAND } from "./declare.ts";
import { COMMON_FLAGS } from "./flags.ts";
import { FIXTURE_ABOUT, rootHelp } from "./help.ts";
import type { ProgramPorts } from "./live_ports.ts";
import type { Verbs } from "./verbs.ts";
import { Output } from "./output.ts";
import { type Called, declareVerb } from "./parser.ts";
import { VERSION } from "../domain/version.ts";

/** Width of the help in columns, on any terminal. */
const HELP_WIDTH = 80;

/** Arguments that print a help text or the version, also among short flags. */
const PRINTING = /^(?:help|--help|--version|-[^-]*[hV].*)$/s;

/** A verb that was called, with the values of its arguments, then those of its flags. */
export interface CalledVerb {
  readonly verb: Verb;
  readonly values: readonly unknown[];
}

/**
 * Parses the arguments of a call, without the wrapped command.
 *
 * @throws {CommanderError} if the parser refuses the call, or has printed a help text or the version.
 */
export function parseCall(ports: ProgramPorts, verbs: Verbs, args: readonly string[]): CalledVerb {
  const calls: CalledVerb[] = [];
  const program = buildProgram(ports, verbs, args, (verb, values) => calls.push({ verb, values }));
  // The parser suggests only the flags that it would show in a help text.
  const commands = args.some((arg) => PRINTING.test(arg))
    ? []
    : program.commands.flatMap((each) => [each, ...each.commands]);
  for (const option of commands.flatMap(({ options }) => options)) option.hideHelp(false);
  program.parse([...args], { from: "user" });
  const [call] = calls;
  if (call === undefined) throw new TypeError(`No verb was called by ${JSON.stringify(args)}`);
  return call;
}

/** Builds the parser for `args`. Verbs that `args` do not name get one flag only, because building all flags is slow. */
export function buildProgram(
  ports: ProgramPorts,
  { top, fixture }: Verbs,
  args: readonly string[],
  called: Called = () => {},
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
    .exitOverride()
    .configureOutput({
      writeErr: () => {},
      writeOut: (text) => helpOutput.text(text),
      getOutHelpWidth: () => HELP_WIDTH,
    });

  program.helpInformation = () => rootHelp({ top, fixture });
  const add = (parent: Command, verb: Verb) => {
    // One flag, so that the list of verbs says "[options]".
    const declared = args.includes(verb.name) ? verb : { ...verb, flags: { json: COMMON_FLAGS.json } };
    declareVerb(parent.command(verb.name), declared, called);
  };
  for (const verb of top) add(program, verb);
  if (fixture.length > 0) {
    const parent = program.command("fixture").description(FIXTURE_ABOUT);
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

/** The values of a called verb, with the wrapped command in its place among the arguments. */
export function withCommand({ verb, values }: CalledVerb, command: readonly string[]): readonly unknown[] {
  const place = verb.arguments.indexOf(WRAPPED_COMMAND);
  return place === -1 ? values : values.toSpliced(place, 0, command);
}

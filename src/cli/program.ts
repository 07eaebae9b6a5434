/** The command line of a call. Calling a verb loads its code. */
import { Argument, Command, Option } from "commander";
import { RepriseError } from "../domain/errors.ts";
import { type Flag, type FlagTable, isOffSwitch, type Verb, WRAPPED_COMMAND } from "./declare.ts";
import { COMMON_FLAGS } from "./flags.ts";
import { FIXTURE_ABOUT, rootHelp } from "./help.ts";
import type { ProgramPorts } from "./live_ports.ts";
import type { Verbs } from "./verbs.ts";
import { Output } from "./output.ts";
import { VERSION } from "../domain/version.ts";

/** Width of the help in columns, on any terminal. */
const HELP_WIDTH = 80;

/** Arguments that print a help text or the version, also among short flags. */
const PRINTING = /^(?:help|--help|--version|-[^-]*[hV].*)$/s;

/** A verb that was called, with the values of its arguments, then those of its flags. */
interface CalledVerb {
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

/** Receives the verb that was called, with the values of its arguments, then those of its flags. */
export type Called = (verb: Verb, values: readonly unknown[]) => void;

/** Turns `command` into the parser of `verb`. */
export function declareVerb(command: Command, verb: Verb, called: Called): void {
  command.description(verb.about);
  if (verb.usage !== undefined) command.usage(verb.usage);
  for (const { spec, about, choices } of verb.arguments) {
    if (spec === WRAPPED_COMMAND.spec) continue;
    const argument = new Argument(spec, about);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  const heads = new Map(
    Object.entries(verb.groups ?? {}).flatMap(([head, names]) => names.map((name) => [name, head] as const)),
  );
  for (const name of new Set([...heads.keys(), ...Object.keys(verb.flags)])) {
    // Verbs that the call does not name have one flag only.
    if (verb.flags[name] === undefined) continue;
    const option = optionOf(verb.flags, name);
    const head = heads.get(name);
    command.addOption(head === undefined ? option : option.helpGroup(`${head}:`));
  }
  const examples = verb.examples.map((line) => `  ${line}\n`).join("");
  command.addHelpOption(new Option("-h, --help", "show help").hideHelp())
    .addHelpText("after", `\nExample:\n${examples}\nFlags of all verbs, such as --json: reprise --help\n`)
    .action((...values: unknown[]) => called(verb, values.slice(0, -1)));
}

/**
 * The option of one flag.
 *
 * @throws {TypeError} if the declared name differs from the parser's name, or if the flag excludes a flag that is not
 * in the table.
 */
function optionOf(table: FlagTable, name: string): Option {
  const flag = table[name] as Flag;
  const { spec, choices, fallback, required, conflicts } = flag;
  const option = new Option(spec, helpText(flag));
  if (option.attributeName() !== name) {
    throw new TypeError(`The flag "${spec}" is declared as ${name}, not as ${option.attributeName()}`);
  }
  const missing = conflicts.find((name) => table[name] === undefined);
  if (missing !== undefined) throw new TypeError(`The flag "${spec}" conflicts with no flag ${missing}`);
  if (Object.values<Flag>(COMMON_FLAGS).includes(flag)) option.hideHelp();
  if (choices !== undefined) option.choices(choices);
  if (flag.read !== undefined) option.argParser((text, before) => flag.read?.(text, before));
  if (fallback !== undefined) option.default(fallback);
  return option.makeOptionMandatory(required).conflicts([...conflicts]);
}

/** The help text of a flag: its effect, then the sources of its value without the flag, the first one first. */
export function helpText(flag: Flag): string {
  const { spec, about, sources, otherwise } = flag;
  const isSwitch = spec.startsWith("--no-");
  const names = sources.map((source) => {
    if (typeof source === "string") return source;
    if ("member" in source) return "config.json";
    const { variable } = source;
    return isSwitch ? `${variable}=${isOffSwitch(flag, variable) ? 0 : 1}` : variable;
  });
  if (names.length === 0) return about;
  if (isSwitch) return `${about} (as ${names.join(" and ")} do)`;
  return `${about} (default: ${[...names, ...(otherwise === undefined ? [] : [otherwise])].join(", else ")})`;
}

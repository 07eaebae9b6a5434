/**
 * The command line: every verb with its flags, and the parser that is built from their declarations. Calling a verb
 * loads its code.
 *
 * @module
 */
import { Argument, Command, CommanderError, Option } from "commander";
import { EXIT_CODES, RepriseError } from "../domain/errors.ts";
import type { BadArgument } from "../fixture/session/session_file.ts";
import { type Flag, type FlagTable, type Verb, WRAPPED_COMMAND } from "./declare.ts";
import { FIXTURE_VERBS } from "./fixture/command.ts";
import { COMMON_FLAGS } from "./flags.ts";
import { INSPECTION_VERBS } from "./inspection/command.ts";
import type { ProgramPorts } from "./live_ports.ts";
import { MAINTENANCE_VERBS } from "./maintenance/command.ts";
import { Output } from "./output.ts";
import { RUNNING_VERBS } from "./run/command.ts";
import { RECORDING_VERBS } from "./serve/command.ts";
import { VERSION } from "../domain/version.ts";

/** The top-level verbs, in the order of the help. */
export const VERBS: readonly Verb[] = [
  ...RUNNING_VERBS,
  ...INSPECTION_VERBS,
  ...MAINTENANCE_VERBS,
  ...RECORDING_VERBS,
];

export { FIXTURE_VERBS };

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
    .configureOutput({ writeErr: () => {}, writeOut: (text) => helpOutput.text(text) });

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
  for (const verb of VERBS) add(program, verb);
  const fixture = program.command("fixture").description("inspect and maintain fixtures");
  for (const verb of FIXTURE_VERBS) add(fixture, verb);
  return program;
}

/**
 * Splits the command line into its own arguments and the wrapped command.
 *
 * @throws {RepriseError} `usage` when `--` is the last argument: without a command the verb would listen until a signal.
 */
export function splitCommand(
  args: readonly string[],
): { readonly own: readonly string[]; readonly command: readonly string[] } {
  const verb = VERBS.find(({ name }) => name === args[0]);
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

/** Performs a verb with the values of its arguments, then those of its flags. */
export type Perform = (verb: Verb, values: readonly unknown[]) => void | Promise<void>;

/** Turns `command` into the parser of `verb`. */
export function declareVerb(command: Command, verb: Verb, perform: Perform): void {
  command.description(verb.about);
  if (verb.usage !== undefined) command.usage(verb.usage);
  for (const { spec, about } of verb.arguments) {
    if (spec !== WRAPPED_COMMAND.spec) command.addArgument(new Argument(spec, about));
  }
  for (const name of Object.keys(verb.flags)) command.addOption(optionOf(verb.flags, name));
  command.addHelpText("after", `\nExample:\n${verb.examples.map((line) => `  ${line}`).join("\n")}\n`)
    .action((...values: unknown[]) => perform(verb, values.slice(0, -1)));
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
  const missing = conflicts.find((other) => table[other] === undefined);
  if (missing !== undefined) throw new TypeError(`The flag "${spec}" conflicts with no flag ${missing}`);
  if (choices !== undefined) option.choices(choices);
  if (flag.read !== undefined) option.argParser((text, before) => flag.read?.(text, before));
  if (fallback !== undefined) option.default(fallback);
  return option.makeOptionMandatory(required).conflicts([...conflicts]);
}

/** The help text of a flag: its effect, then the sources of its value. */
function helpText({ spec, about, sources, otherwise }: Flag): string {
  const off = spec.startsWith("--no-") ? "=0" : "";
  const names = sources.map((source) => {
    if (typeof source === "string") return source;
    return "variable" in source ? `${source.variable}${off}` : "config.json";
  });
  if (names.length === 0) return about;
  return `${about} (${names.join(", ")}${otherwise === undefined ? "" : `; default: ${otherwise}`})`;
}

/** The verbs that a step of a session test may call: they neither listen, send nor write elsewhere. */
const STEP_VERBS: readonly Verb[] = VERBS.filter(({ step }) => step);

/**
 * Finds the argument that a step of a session test may not have: a verb that is not about sessions, or a flag that is
 * declared with `step: false`. Arguments that the parser refuses are allowed: the step ends with exit code 2.
 */
export function checkStepArguments([name = "", ...args]: readonly string[]): BadArgument | null {
  const verb = STEP_VERBS.find((each) => each.name === name);
  if (verb === undefined) {
    const known = STEP_VERBS.map((each) => each.name).join(", ");
    return { index: 0, why: `${JSON.stringify(name)} is no verb of a step; these are: ${known}` };
  }
  const index = firstForbidden(verb, args);
  if (index === null) return null;
  const why =
    `${JSON.stringify(args[index])} is not for the step to say: whoever plays the test sets home, ` +
    "workspace, fixture and output";
  return { index: index + 1, why };
}

/** The index of the first argument with a forbidden flag; `null` if there is none. */
function firstForbidden(verb: Verb, args: readonly string[]): number | null {
  if (!parseStep(verb, args).forbidden) return null;
  const isGiven = (length: number) => parseStep(verb, args.slice(0, length)).forbidden;
  let length = 1;
  while (!isGiven(length)) length++;
  // A flag may be two arguments: its name and its value.
  return parseStep(verb, args.slice(0, length - 1)).needsValue ? length - 2 : length - 1;
}

interface ParsedStep {
  /** The arguments hold a flag that a step may not give. */
  readonly forbidden: boolean;
  /** The last argument is a flag, and its value is missing. */
  readonly needsValue: boolean;
}

function parseStep(verb: Verb, args: readonly string[]): ParsedStep {
  const command = new Command(verb.name).exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} });
  declareVerb(command, verb, () => {});
  let needsValue = false;
  try {
    command.parse([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    needsValue = error.code === "commander.optionMissingArgument";
  }
  // Flags before a mistake count too: the command holds the values that the parser has read.
  const forbidden = Object.entries(verb.flags).some(([name, { step }]) =>
    step === false && command.getOptionValueSource(name) === "cli"
  );
  return { forbidden, needsValue };
}

/** The parser of a verb, built from its declaration. */
import { Argument, type Command, Option } from "commander";
import { COMMON_FLAGS } from "./flags.ts";
import { type Flag, type FlagTable, isOffSwitch, type Verb, WRAPPED_COMMAND } from "./declare.ts";

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
  const missing = conflicts.find((other) => table[other] === undefined);
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

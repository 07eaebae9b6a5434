/**
 * The check of what a step of a session test calls: the parser of the declared flags reads the arguments.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import type { BadArgument } from "../fixture/session/session_file.ts";
import { VERBS } from "./commands.ts";
import type { Verb } from "./declare.ts";
import { declareVerb } from "./verb_command.ts";

/** The verbs of a step: those about sessions. None of them listens, sends or writes elsewhere. */
const STEP_VERBS: readonly Verb[] = VERBS.filter(({ step }) => step);

/**
 * Finds the argument of a step that is not for the step to say, whoever wrote it: a verb that is not about sessions, or
 * a flag that is declared with `step: false`. Arguments that the parser refuses are no fault: the step ends with exit
 * code 2 and does nothing.
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

/** The index of the first argument that gives a forbidden flag; `null` when none does. */
function firstForbidden(verb: Verb, args: readonly string[]): number | null {
  if (!parse(verb, args).forbidden) return null;
  const isGiven = (length: number) => parse(verb, args.slice(0, length)).forbidden;
  let length = 1;
  while (!isGiven(length)) length++;
  // A flag whose value is the next argument is given by both of them.
  return parse(verb, args.slice(0, length - 1)).needsValue ? length - 2 : length - 1;
}

interface Parsed {
  /** A flag is given that a step may not give. */
  readonly forbidden: boolean;
  /** The last argument is a flag, and its value is missing. */
  readonly needsValue: boolean;
}

function parse(verb: Verb, args: readonly string[]): Parsed {
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
  // Flags before a mistake count too: what the parser read of them is in the command.
  const forbidden = Object.entries(verb.flags).some(([name, { step }]) =>
    step === false && command.getOptionValueSource(name) === "cli"
  );
  return { forbidden, needsValue };
}

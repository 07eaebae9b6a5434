/** The arguments that a step of a session test may have. */
import { Command, CommanderError } from "commander";
import type { BadArgument } from "../fixture/session/session_file.ts";
import type { Verb } from "./declare.ts";
import { declareVerb } from "./program.ts";
import { ALL_VERBS } from "./verbs.ts";

/** The verbs that a step of a session test may call: they neither listen, send nor write elsewhere. */
const STEP_VERBS: readonly Verb[] = ALL_VERBS.top.filter(({ step }) => step);

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
    `${JSON.stringify(args[index])} is not allowed in a step: the program that plays the test sets home, ` +
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

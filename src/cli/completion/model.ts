/**
 * The command line as completions need it, derived from the declarations of the verbs.
 *
 * @module
 */
import { FIXTURE_ABOUT } from "../help.ts";
import { type Flag, type Positional, type Verb, WRAPPED_COMMAND } from "../declare.ts";
import type { Verbs } from "../load_verbs.ts";

/** Values that a shell offers: a list, names that it finds itself, or `null` for any text. */
export type Offered = readonly string[] | "file" | "directory" | "session" | null;

/** One flag. */
export interface CompletedFlag {
  /** Spellings, such as `-m` and `--model`. */
  readonly names: readonly string[];
  /** The placeholder of the value; `null` for a switch. */
  readonly placeholder: string | null;
  readonly about: string;
  readonly offered: Offered;
}

interface CompletedArgument {
  readonly spec: string;
  readonly offered: Offered;
}

/** One verb. */
export interface CompletedVerb {
  /** `ls`, or `fixture ls`. */
  readonly name: string;
  readonly about: string;
  readonly flags: readonly CompletedFlag[];
  readonly arguments: readonly CompletedArgument[];
  /** True if a command may follow after `--`. */
  readonly wraps: boolean;
}

/** The name of the group of verbs with two names. */
export const GROUP = { name: "fixture", about: FIXTURE_ABOUT };

/** All verbs; those of `fixture` with both names. */
export function completedVerbs({ top, fixture }: Verbs): CompletedVerb[] {
  return [
    ...top.map((verb) => completed(verb, verb.name)),
    ...fixture.map((verb) => completed(verb, `${GROUP.name} ${verb.name}`)),
  ];
}

function completed(verb: Verb, name: string): CompletedVerb {
  const positional = verb.arguments.filter((each) => each !== WRAPPED_COMMAND);
  return {
    name,
    about: verb.about,
    flags: [...Object.values(verb.flags).map(flagOf), HELP],
    arguments: positional.map(argumentOf),
    wraps: verb.arguments.includes(WRAPPED_COMMAND),
  };
}

const HELP: CompletedFlag = {
  names: ["-h", "--help"],
  placeholder: null,
  about: "show help",
  offered: null,
};

/** A flag as it is declared. */
export function flagOf(flag: Flag): CompletedFlag {
  const placeholder = /<(.*)>/.exec(flag.spec)?.[1] ?? null;
  return {
    names: flag.spec.replace(/ [<[].*/, "").split(", "),
    placeholder,
    about: flag.about,
    offered: flag.choices ?? flag.suggests ?? offeredFor(placeholder ?? ""),
  };
}

function argumentOf({ spec, choices }: Positional): CompletedArgument {
  return { spec, offered: choices ?? offeredFor(spec.replace(/^[<[]|(\.\.\.)?[>\]]$/g, "")) };
}

const OFFERED: Readonly<Record<string, Offered>> = {
  id: "session",
  ids: "session",
  file: "file",
  dir: "directory",
  dirs: "directory",
  // The fixtures of `fixture diff`.
  a: "directory",
  b: "directory",
};

function offeredFor(placeholder: string): Offered {
  return Object.hasOwn(OFFERED, placeholder) ? OFFERED[placeholder] ?? null : null;
}

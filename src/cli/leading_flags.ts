/** Moves flags that precede the verb to the place after it: `reprise --json ls` is `reprise ls --json`. */
import { COMMON_FLAGS } from "./flags.ts";
import type { FlagTable, Verb } from "./declare.ts";
import type { Verbs } from "./verbs.ts";

/** The verb of a call, and the number of arguments that name it. */
export interface NamedVerb {
  readonly verb: Verb;
  readonly words: 1 | 2;
}

/** Returns the verb whose name `args` begin with; `null` if they name none. */
export function namedVerb([name, sub]: readonly string[], { top, fixture }: Verbs): NamedVerb | null {
  const verb = name === "fixture"
    ? fixture.find((each) => each.name === sub)
    : top.find((each) => each.name === name);
  return verb === undefined ? null : { verb, words: name === "fixture" ? 2 : 1 };
}

/**
 * Returns the arguments with the verb first: the first one whose flags the arguments before it are. Without one, for the
 * message: an unknown verb after flags that every verb has, or the verb after a flag that it does not have. Returns other
 * arguments unchanged.
 */
export function withVerbFirst(args: readonly string[], verbs: Verbs): readonly string[] {
  const [first = "", second = ""] = args;
  if (!first.startsWith("-") && !(first === "fixture" && second.startsWith("-"))) return args;
  const group = args[0] === "fixture" ? ["fixture"] : [];
  const rest = args.slice(group.length);
  let mistyped: readonly string[] | null = null;
  for (let at = 1; at < rest.length; at++) {
    const after = [...group, ...rest.slice(at)];
    const named = namedVerb(after, verbs);
    if (named === null) continue;
    const { verb: { flags }, words } = named;
    const leading = rest.slice(0, at);
    const moved = [...after.slice(0, words), ...leading, ...after.slice(words)];
    if (areFlags(leading, flags)) return moved;
    if (leading[0]?.startsWith("--") && takesValue(leading[0], flags) === null) mistyped ??= moved;
  }
  const unknown = rest.findIndex((arg, at) =>
    at > 0 && !arg.startsWith("-") && areFlags(rest.slice(0, at), COMMON_FLAGS)
  );
  return unknown === -1 ? mistyped ?? args : [...group, ...rest.splice(unknown, 1), ...rest];
}

/** True if `args` are flags of a table, each with the value that it takes. */
function areFlags(args: readonly string[], table: FlagTable): boolean {
  let at = 0;
  while (at < args.length) {
    const takes = takesValue(args[at] ?? "", table);
    if (takes === null) return false;
    at += takes ? 2 : 1;
  }
  return at === args.length;
}

/** True if the next argument is the value of this flag, false if it is not; `null` if `arg` is no flag of the table. */
export function takesValue(arg: string, table: FlagTable): boolean | null {
  if (!arg.startsWith("-")) return null;
  const [name = "", given] = arg.startsWith("--")
    ? arg.split("=", 2)
    : [arg.slice(0, 2), arg.slice(2) || undefined];
  const flag = Object.values(table).find(({ spec }) => spec.split(/[ ,]+/).includes(name));
  if (flag === undefined) return null;
  return flag.spec.includes("<") && given === undefined;
}

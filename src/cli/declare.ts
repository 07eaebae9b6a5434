/**
 * Declarations of verbs, their arguments and their flags. Types, help, docs, settings, the check of session tests and
 * the parser (in `program.ts`) derive from these values.
 */
import type { ProgramPorts } from "./live_ports.ts";

/** A source of a flag's value when the flag is not given. */
type ValueSource =
  | { readonly variable: string }
  /** A member of `config.json`. */
  | { readonly member: string }
  /** Another source, as named in the help. */
  | string;

/**
 * Use of a flag in steps of session tests. `false`: a step may not give it, because the player sets it or because it
 * leads out of the test. `"recorded"`: a recorded run writes it into its step unchanged.
 */
type StepUse = boolean | "recorded";

export interface Flag<T = unknown> {
  /** Spelling and value, such as `-m, --model <model>`. */
  readonly spec: string;
  /** The help text, without {@linkcode sources}. */
  readonly about: string;
  /** First match wins. */
  readonly sources: readonly ValueSource[];
  /** The default after all {@linkcode sources}, for the help. */
  readonly otherwise?: string;
  readonly step: StepUse;
  /** True if the command that continues a session repeats the flag: the session does not keep its value. */
  readonly repeats: boolean;
  readonly required: boolean;
  /** Names of flags in the same table that exclude this flag. */
  readonly conflicts: readonly string[];
  readonly fallback?: T;
  readonly choices?: readonly string[];
  /** Values that completions offer among others. */
  readonly suggests?: readonly string[];
  /**
   * Reads a value; `before` is the value of an earlier occurrence.
   *
   * @throws {InvalidArgumentError} for a value that cannot be used.
   */
  read?(text: string, before: T | undefined): T;
}

/** Flags by the names of their values in code: `maxSteps` for `--max-steps`. */
export type FlagTable = Readonly<Record<string, Flag>>;

type ValueOf<Declared> = Declared extends Flag<infer T> ? T : never;

/** The values of the flags in a table. Flags that may be absent are optional members. */
export type FlagsOf<Table> =
  & {
    readonly [Name in keyof Table as undefined extends ValueOf<Table[Name]> ? Name : never]?: ValueOf<
      Table[Name]
    >;
  }
  & {
    readonly [Name in keyof Table as undefined extends ValueOf<Table[Name]> ? never : Name]: ValueOf<
      Table[Name]
    >;
  };

/** Members of a declaration that most flags lack. */
export type More = Partial<
  Pick<Flag, "sources" | "otherwise" | "step" | "repeats" | "conflicts" | "suggests">
>;

/** A switch: `true`, or absent. */
export function toggle(spec: string, about: string, more: More = {}): Flag<true | undefined> {
  return declared(spec, about, more);
}

/** A switch of the form `--no-…`: `false` when it is given, otherwise `true`. */
export function negated(spec: string, about: string, more: More = {}): Flag<boolean> {
  return declared(spec, about, more);
}

/** A flag with an unchanged value. */
export function text(spec: string, about: string, more: More = {}): Flag<string | undefined> {
  return declared(spec, about, more);
}

/** A flag whose value may be left out: then it is `true`. */
export function optionalText(spec: string, about: string, more: More = {}): Flag<string | true | undefined> {
  return declared(spec, about, more);
}

/** As {@linkcode text}; the verb cannot be called without it. */
export function requiredText(spec: string, about: string, more: More = {}): Flag<string> {
  return { ...declared<string>(spec, about, more), required: true };
}

type Read<T> = (text: string, before: T | undefined) => T;

/** A flag whose value `read` reads. */
export function value<T>(
  spec: string,
  about: string,
  read: Read<T>,
  more: More & { readonly fallback: T },
): Flag<T>;
export function value<T>(spec: string, about: string, read: Read<T>, more?: More): Flag<T | undefined>;
export function value<T>(
  spec: string,
  about: string,
  read: Read<T>,
  more: More & { readonly fallback?: T } = {},
): Flag<T | undefined> {
  return { ...declared<T | undefined>(spec, about, more), read };
}

export function choice<const T extends string>(
  spec: string,
  about: string,
  choices: readonly T[],
  more: More & { readonly fallback: NoInfer<T> },
): Flag<T>;
export function choice<const T extends string>(
  spec: string,
  about: string,
  choices: readonly T[],
  more?: More,
): Flag<T | undefined>;
export function choice<T extends string>(
  spec: string,
  about: string,
  choices: readonly T[],
  more: More & { readonly fallback?: T } = {},
): Flag<T | undefined> {
  return { ...declared<T | undefined>(spec, about, more), choices };
}

/** A repeatable flag: the values in their order. */
export function list(spec: string, about: string, more: More = {}): Flag<readonly string[] | undefined> {
  const read = (text: string, before: readonly string[] = []) => [...before, text];
  return { ...declared<readonly string[] | undefined>(spec, about, more), read };
}

/** The same flag with another help text and other changes for one verb. */
export function again<T>(
  flag: Flag<T>,
  about: string,
  more: Pick<Flag<T>, "fallback"> = {},
): Flag<T> {
  return { ...flag, about, ...more };
}

function declared<T>(spec: string, about: string, more: More & { readonly fallback?: T }): Flag<T> {
  return { spec, about, sources: [], step: true, repeats: false, required: false, conflicts: [], ...more };
}

/** The environment variables that set a flag; the first that is set wins. */
export function variablesOf({ sources }: Flag): string[] {
  return sources.flatMap((source) =>
    typeof source === "object" && "variable" in source ? [source.variable] : []
  );
}

/** True if a switch's variable must be off to do what `--no-…` does; one with `NO` in its name must be on. */
export function isOffSwitch({ spec }: Flag, variable: string): boolean {
  return spec.startsWith("--no-") && !variable.includes("_NO_");
}

/** The member of `config.json` that sets a flag; `null` for a flag without one. */
export function configMemberOf({ sources }: Flag): string | null {
  const found = sources.find((source) => typeof source === "object" && "member" in source);
  return typeof found === "object" && "member" in found ? found.member : null;
}

/** The arguments that give flags these values, in the order of `values`. A default value needs no argument. */
export function flagArguments<Table extends FlagTable>(
  table: Table,
  values: Partial<FlagsOf<Table>>,
): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const { spec, fallback } = table[name] as Flag;
    const spelled = spec.split(/[ ,]/, 1)[0] ?? spec;
    if (value === undefined || value === fallback) return [];
    if (typeof value === "boolean") return value === spec.startsWith("--no-") ? [] : [spelled];
    return (Array.isArray(value) ? value : [value]).flatMap((each) => [spelled, String(each)]);
  });
}

/** One positional argument; `T` is the type of its value. */
interface Positional<T = unknown> {
  /** `<id>`, `[id]` where it may be absent, `<dirs...>` for one or more; `--` for a wrapped command. */
  readonly spec: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** Never set: carries the type. */
  readonly value?: T;
}

type PositionalValue<Spec extends string> = Spec extends `<${string}...>` | `[${string}...]`
  ? readonly string[]
  : Spec extends `<${string}>` ? string
  : string | undefined;

export function argument<const Spec extends `<${string}>` | `[${string}]`>(
  spec: Spec,
  about: string,
  choices?: readonly string[],
): Positional<PositionalValue<Spec>> {
  return { spec, about, ...(choices === undefined ? {} : { choices }) };
}

/** The command after `--` and its arguments; empty without a command. The parser never sees them. */
export const WRAPPED_COMMAND: Positional<readonly string[]> = { spec: "--", about: "" };

type ValuesOf<Arguments extends readonly Positional[]> = {
  -readonly [Index in keyof Arguments]: Arguments[Index] extends Positional<infer T> ? T : never;
};

/** The function of a verb: takes the ports of the program, arguments and flags, returns the exit code. */
type Performed<Arguments extends readonly Positional[], Table extends FlagTable> = (
  ...call: [ProgramPorts, ...ValuesOf<Arguments>, FlagsOf<Table>]
) => number | Promise<number>;

export interface Verb {
  readonly name: string;
  readonly about: string;
  /** The line after `Usage: reprise NAME`, if the parser's own line would be incomplete. */
  readonly usage?: string;
  /** A step of a session test may call it. */
  readonly step: boolean;
  readonly arguments: readonly Positional[];
  readonly flags: FlagTable;
  /** The flags by the heads of their groups in the help, in its order; other flags come last. @default {no groups} */
  readonly groups?: FlagGroups;
  /** Command lines for the end of the help. */
  readonly examples: readonly string[];
  /** Imports the verb's code, when the verb is called. */
  load(): Promise<(ports: ProgramPorts, ...call: never) => number | Promise<number>>;
}

/** Names of flags by the heads of their groups. */
type FlagGroups<Name extends string = string> = Readonly<Record<string, readonly Name[]>>;

/** A verb whose function fits its arguments and flags. */
export function verb<
  const Arguments extends readonly Positional[],
  Table extends FlagTable,
>(
  declaration:
    & Omit<Verb, "step" | "arguments" | "flags" | "groups" | "load">
    & {
      readonly step?: boolean;
      readonly arguments: Arguments;
      readonly flags: Table;
      readonly groups?: FlagGroups<keyof Table & string>;
      readonly load: () => Promise<Performed<Arguments, Table>>;
    },
): Verb {
  return { step: false, ...declaration };
}

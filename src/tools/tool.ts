/** A tool: a name and a schema for the model, a check of its arguments, and a run that ends in text. */
import * as z from "zod";
import { defined, type JsonObject } from "../domain/json.ts";
import { finishText, type ToolOutput, type ToolText } from "./output.ts";

/** Groups of tools that rules can name: tools that only read, tools that write files, the shell. */
export type ToolGroup = "read" | "write" | "shell";

/** The object of a call: a path, a command, or neither. */
export type Target =
  | { readonly kind: "none" }
  | {
    readonly kind: "path";
    /** Relative to the workspace, links resolved, with forward slashes; `.` is the workspace itself. */
    readonly path: string;
  }
  | {
    readonly kind: "command";
    /** The program and its arguments; `null` when only a shell can tell what the command line does. */
    readonly argv: readonly string[] | null;
    /** Exactly what will run, as one command line: what a person is asked about, what is recorded. */
    readonly line: string;
  };

/** A call as the policy sees it. */
export interface CallSubject {
  readonly tool: string;
  readonly group: ToolGroup;
  readonly target: Target;
}

/** Takes out of output what must not be saved or sent. Returns its argument if there is nothing to take out. */
interface OutputCleaner {
  bytes(bytes: Uint8Array): Uint8Array;
  text(text: string): string;
}

export interface ToolContext {
  /** The workspace: absolute and canonical, from `canonicalRoot`, fixed when the run starts. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** The longest output that the model is shown, in UTF-16 units. @default {DEFAULT_OUTPUT_CHARS} */
  readonly maxOutputChars?: number;
  /** Absolute paths that no tool writes to or below, wherever they lie: our own home and configuration. */
  readonly protectedPaths: readonly string[];
  /** Our environment, for the few variables that a command inherits. */
  readonly env: (name: string) => string | undefined;
  /** Says which paths a call that lists or searches must leave out, from `hiddenPaths` of the policy. */
  readonly isHidden: (path: string) => boolean;
  /** The target that the policy judged. A call whose path leads elsewhere by the time it runs is refused. */
  readonly judged?: Target;
  /** Cleans output before any of it is cut. */
  readonly cleaner?: OutputCleaner;
  /** Receives output of a command while it runs. */
  readonly onOutput?: (text: string) => void;
}

export interface FileChange {
  /** `null` for a new file. */
  readonly before: string | null;
  readonly after: string;
  /** True if both are only the parts that the call replaces: it does not fit the file as it is now. */
  readonly isPart: boolean;
}

/** Types of arguments, by their names in JSON Schema. */
interface ArgumentTypes {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly array: readonly string[];
}

const CHECKS: { readonly [Type in keyof ArgumentTypes]: () => z.ZodType<ArgumentTypes[Type]> } = {
  string: () => z.string(),
  integer: () => z.int(),
  boolean: () => z.boolean(),
  array: () => z.array(z.string()),
};

export interface Argument<Value = unknown> {
  /** JSON Schema for the model. */
  readonly schema: JsonObject;
  readonly isNullable: boolean;
  readonly check: () => z.ZodType<Value>;
}

/** An argument that is never `null`; an array holds strings. */
export function requiredArgument<Type extends keyof ArgumentTypes>(
  type: Type,
  description?: string,
): Argument<ArgumentTypes[Type]> {
  const items = type === "array" ? { type: "string" } : undefined;
  return { schema: { type, ...defined({ items, description }) }, isNullable: false, check: CHECKS[type] };
}

/** An argument that may be `null`, and that a server without strict schemas may leave out. */
export function nullableArgument<Type extends keyof ArgumentTypes>(
  type: Type,
  description: string,
): Argument<ArgumentTypes[Type] | null> {
  const { schema, check } = requiredArgument(type, description);
  return { schema: { ...schema, type: [type, "null"] }, isNullable: true, check: () => check().nullable() };
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly arguments: Readonly<Record<string, Argument>>;
  /** Checks all arguments; what runs are the arguments as they were parsed. */
  readonly shape: z.ZodType;
  /** `read` for calls that change nothing outside. */
  readonly group: ToolGroup;
  /**
   * Finds the object of a call, for the policy to judge before {@linkcode Tool.run}. Reads the disk, to follow
   * links. `args` must have passed `parseArguments`.
   *
   * @throws {ToolFailure} when the call cannot be done whatever the policy says: a path that leads outside, does
   * not exist or is protected, a command that is empty.
   */
  subject(args: JsonObject, context: ToolContext): CallSubject;
  /**
   * The change that a call would make to a file, for the person who is asked about it; `null` if there is none to show.
   * Never throws. Absent for tools that change no file.
   */
  change?(args: JsonObject, context: ToolContext): Promise<FileChange | null>;
  /**
   * Runs one call. `args` must have passed `parseArguments`.
   *
   * @throws the signal's reason when it aborts; every other trouble becomes an output with status `error`.
   */
  run(args: JsonObject, context: ToolContext): Promise<ToolOutput>;
}

/** A tool as its own file writes it: typed arguments in, uncut text out. */
interface ToolDefinition<Table, Args = ArgumentsOf<Table>>
  extends Pick<Tool, "name" | "description" | "group"> {
  readonly arguments: Table;
  readonly target: (args: Args, context: ToolContext) => Target;
  readonly change?: (args: Args, context: ToolContext) => Promise<FileChange | null>;
  readonly run: (args: Args, context: ToolContext) => Promise<ToolText>;
}

type ArgumentsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Argument<infer Value> ? Value : never;
};

/** A call that cannot be done; its message is the result that the model reads. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

/**
 * Makes sure that a call runs on the path that was judged: a link on the way may lead elsewhere by now.
 *
 * @throws {ToolFailure} when `path` is another one.
 */
export function confirmJudged({ judged }: ToolContext, path: string): void {
  if (judged === undefined || (judged.kind === "path" && judged.path === path)) return;
  throw new ToolFailure("Cannot run the call: its path leads elsewhere since it was permitted");
}

/** Makes a {@linkcode Tool}: cuts its text to size, and turns failures into error results. */
export function defineTool<Table extends Tool["arguments"]>(definition: ToolDefinition<Table>): Tool {
  const { change, ...facts } = definition;
  const { name, group } = facts;
  type Args = ArgumentsOf<Table>;
  return {
    ...facts,
    shape: z.lazy(() =>
      z.strictObject(
        Object.fromEntries(Object.entries(definition.arguments).map(([name, { check }]) => [name, check()])),
      )
    ),
    subject(args, context) {
      try {
        return { tool: name, group, target: definition.target(args as Args, context) };
      } catch (error) {
        throw new ToolFailure(failureText(error));
      }
    },
    ...(change === undefined
      ? {}
      : { change: (args, context) => change(args as Args, context).catch(() => null) }),
    async run(args, context) {
      context.signal.throwIfAborted();
      const finish = (text: ToolText) => finishText(cleaned(text, context.cleaner), context.maxOutputChars);
      try {
        const text = await definition.run(args as Args, context);
        context.signal.throwIfAborted();
        return finish(text);
      } catch (error) {
        context.signal.throwIfAborted();
        return finish({ status: "error", text: failureText(error) });
      }
    },
  };
}

function cleaned(result: ToolText, cleaner: OutputCleaner | undefined): ToolText {
  if (cleaner === undefined) return result;
  const { text, full } = result;
  const clean = full === undefined ? undefined : { ...full, bytes: cleaner.bytes(full.bytes) };
  return { ...result, text: cleaner.text(text), ...defined({ full: clean }) };
}

/** Only messages of our own are shown: the runtime's name absolute paths. */
function failureText(error: unknown): string {
  if (error instanceof ToolFailure) return error.message;
  const kind = error instanceof Error ? error.name : typeof error;
  return `Cannot finish the call: the system reported ${kind}`;
}

/**
 * What a tool is: a name and a schema for the model, a check of its arguments, and a run that ends in text.
 *
 * @module
 */
import type * as z from "zod";
import type { JsonObject } from "../domain/json.ts";
import { finishText, type ToolOutput, type ToolText } from "./output.ts";

/** What a call runs with. */
export interface ToolContext {
  /** The workspace: absolute and canonical, from `canonicalRoot`, fixed when the run starts. */
  readonly root: string;
  readonly signal: AbortSignal;
  /**
   * The longest output that the model is shown, in UTF-16 units.
   *
   * @default {DEFAULT_OUTPUT_CHARS}
   */
  readonly maxOutputChars?: number;
}

/** Something the model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Strict JSON schema: every member required, optional ones nullable, no others. */
  readonly parameters: JsonObject;
  /** The same shape for checking; it judges only, what runs are the parsed arguments. */
  readonly shape: z.ZodType<JsonObject>;
  /** True when a call changes nothing outside. */
  readonly readOnly: boolean;
  /**
   * Runs one call. `args` must have passed `parseArguments`.
   *
   * @throws the signal's reason when it aborts; every other trouble becomes an output with status `error`.
   */
  run(args: JsonObject, context: ToolContext): Promise<ToolOutput>;
}

/** A tool as its own file writes it: typed arguments in, uncut text out. */
export interface ToolDefinition<Args extends JsonObject> {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly shape: z.ZodType<Args>;
  readonly readOnly: boolean;
  readonly run: (args: Args, context: ToolContext) => Promise<ToolText>;
}

/** A call that cannot be done; its message is the result that the model reads. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

/** Makes a {@linkcode Tool}: cuts its text to size, and turns failures into error results. */
export function defineTool<Args extends JsonObject>(definition: ToolDefinition<Args>): Tool {
  return {
    name: definition.name,
    description: definition.description,
    parameters: definition.parameters,
    shape: definition.shape,
    readOnly: definition.readOnly,
    async run(args, context) {
      context.signal.throwIfAborted();
      try {
        const text = await definition.run(args as Args, context);
        context.signal.throwIfAborted();
        return finishText(text, context.maxOutputChars);
      } catch (error) {
        context.signal.throwIfAborted();
        return finishText({ status: "error", text: failureText(error) }, context.maxOutputChars);
      }
    },
  };
}

/** Only messages of our own are shown: the runtime's name absolute paths. */
function failureText(error: unknown): string {
  if (error instanceof ToolFailure) return error.message;
  const kind = error instanceof Error ? error.name : typeof error;
  return `Cannot finish the call: the system reported ${kind}`;
}

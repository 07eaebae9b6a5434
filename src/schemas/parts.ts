/** Members and shapes that several documents share. The table in `schemas.ts` names the documents. */
import * as z from "zod";
import type { ExitCode } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";

export const textType = z.string();
/** `T` with readonly members at every depth: printing changes nothing. */
type Deep<T> = [JsonValue] extends [T] ? T
  : T extends readonly unknown[] ? { readonly [Index in keyof T]: Deep<T[Index]> }
  : T extends object ? { readonly [Name in keyof T]: Deep<T[Name]> }
  : T;

/** The type of what a schema describes. */
export type Printed<Schema extends z.ZodType> = Deep<z.output<Schema>>;

/** Text of which code knows the values, and readers need not. */
export function known<T extends string>(): z.ZodType<T> {
  return z.string() as unknown as z.ZodType<T>;
}

export const countType = z.int().min(0);
/** A number that counts from 1: of a turn, a run, an event, an exchange. */
export const ordinalType = z.int().min(1);
export const time = z.string().describe("ISO 8601, UTC");
export const cost = z.number().nullable().describe("US dollars; null if unknown");
export const sha256Type = z.string().describe("SHA-256, as 64 hexadecimal digits");
/** Exit code of the process, also that of a wrapped command. */
export const anyExitCode = z.int().min(0).describe("exit code of the process");
export const exitCode = anyExitCode as z.ZodType<unknown> as z.ZodType<ExitCode>;

export const anyJson = z.unknown() as z.ZodType<JsonValue>;
/** A JSON object whose members another document describes, or its provider. */
export const objectType = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;
export const counts = z.record(z.string(), countType);

/**
 * An object that this program copies from a file or a server: `known` describes members that it always has. In code it is
 * a `T`.
 */
export function copied<T extends object = JsonObject>(known: z.core.$ZodLooseShape): z.ZodType<T> {
  return z.looseObject(known) as unknown as z.ZodType<T>;
}

const uncounted = {
  uncounted: countType.describe("answers whose tokens no server counted; absent if none").exactOptional(),
};

/** Token counts of runs in turn files. */
export const usageType = z.object({
  input_tokens: countType,
  cached_tokens: countType.describe("part of input_tokens that came from the prompt cache"),
  output_tokens: countType,
  reasoning_tokens: countType.describe("part of output_tokens"),
  ...uncounted,
});

export const requestUsage = usageType.omit({ uncounted: true }).extend({
  cache_write_tokens: countType.exactOptional(),
});

/** Token counts of runs; `null` if no answer was counted. */
export const shownUsageType = z.object({
  input_tokens: countType.nullable().describe("null if unknown, as the other counts"),
  cached_tokens: countType.nullable().describe("part of input_tokens that came from the prompt cache"),
  output_tokens: countType.nullable(),
  reasoning_tokens: countType.nullable().describe("part of output_tokens"),
  ...uncounted,
});

export const runUsage = shownUsageType.extend({
  cache_write_tokens: countType.nullable().describe(
    "part of input_tokens that was written to the prompt cache",
  ),
});

/** Token counts with cache writes, each `null` if no answer has it. */
export const tokenCounts = runUsage.omit({ uncounted: true });

export const spending = tokenCounts.extend({
  requests: countType,
  uncounted: countType.describe("requests whose answers counted no tokens: the sums lack them"),
  cost_usd: cost,
  known_cost_usd: z.number().describe("the cost of the requests that have a price, in US dollars"),
  unpriced: countType.describe("requests of unknown cost"),
});
export type Spending = Printed<typeof spending>;

/** A document or line with the name of its type. */
export function typed<Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) {
  return z.object({ type: z.literal(type), ...shape });
}

export const error = typed("error", {
  code: textType.describe("stable name of the error, such as session_locked"),
  exit_code: exitCode,
  message: textType,
  hint: textType.describe("the next step for the user").exactOptional(),
  details: objectType.describe("facts for programs"),
});

const change = z.object({
  action: z.enum(["append", "create", "end", "listen", "remove", "replace", "run", "send", "stop"]),
  what: z.enum([
    "blob",
    "command",
    "exchange",
    "file",
    "fixture",
    "process",
    "request",
    "run",
    "session",
    "turn",
  ]),
  name: textType.nullable().describe("id, path or URL; null if it has none yet"),
});
export type PlannedChange = Printed<typeof change>;

const DRY_RUN = {
  type: z.literal("dry_run"),
  dry_run: z.literal(true),
  verb: textType.describe("such as compact or fixture seal"),
  changes: z.array(change).describe("in the order in which they would happen"),
};
const dryRunMembers = z.object(DRY_RUN);
export type DryRun = Printed<typeof dryRunMembers>;

export const anyDryRun = z.looseObject(DRY_RUN);

/** The document of a dry run with the facts of its verb. */
export function dryRun<Facts extends z.core.$ZodLooseShape>(facts: Facts) {
  return z.object({ ...DRY_RUN, ...facts });
}

/** The documents of a verb and of its dry run, which have the same facts. */
export function doneOrDry<Facts extends z.core.$ZodLooseShape>(facts: Facts) {
  return z.union([z.object({ ...facts, dry_run: z.literal(false) }), dryRun(facts)]);
}

export const problem = z.object({ path: textType.describe("inside the session"), message: textType });
export type ShowProblem = Printed<typeof problem>;

export const range = z.tuple([ordinalType, ordinalType]);

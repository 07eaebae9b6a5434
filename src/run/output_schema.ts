/** Checks answers against the output schema of a run, and words the request for a correction. */
import type { Schema, SchemaDraft } from "@cfworker/json-schema";
import { RepriseError } from "../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { cutText } from "../domain/text.ts";

/** Returns the errors of an answer, one line each; none if it fits. */
export type AnswerCheck = (answer: string) => readonly string[];

/** The most errors that are reported; the others are counted. */
const MAX_ERRORS = 20;
/** The longest error, in UTF-16 units. */
const MAX_ERROR_LENGTH = 300;

/** Keywords whose own error only says that an error below follows. */
const ENCLOSING: ReadonlySet<string> = new Set([
  "$ref",
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "allOf",
  "false",
]);
const TYPES: ReadonlySet<unknown> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
]);

/**
 * Loads the validator and returns the check of a JSON schema. Its `$ref` lead inside it: nothing else is loaded.
 *
 * @throws {RepriseError} `usage` if answers cannot be checked against the schema.
 */
export async function answerCheck(schema: JsonValue): Promise<AnswerCheck> {
  const { dereference, validate } = await import("@cfworker/json-schema");
  if (!isJsonObject(schema)) throw unusable("it is not a JSON object");
  // The validator adds hidden members; the schema itself is sent.
  const copy = structuredClone(schema) as Schema;
  const known = orUnusable(() => dereference(copy));
  for (const part of Object.values(known)) {
    if (typeof part === "object") requireUsable(part, known);
  }
  const check = (value: unknown) => validate(value, copy, draftOf(schema), known, false).errors;
  // A schema that refers only to itself has no end.
  orUnusable(() => check(null));
  return (answer) => {
    let value: unknown;
    try {
      value = JSON.parse(answer);
    } catch {
      return ["the answer is not JSON"];
    }
    try {
      return linesOf(check(value));
    } catch (error) {
      return [`the answer cannot be checked: ${messageOf(error)}`];
    }
  };
}

/** The user message that asks for an answer that fits. The errors may quote the answer, and are data. */
export function correctionText(errors: readonly string[]): string {
  return "The answer does not fit the JSON schema that it must have:\n" +
    `${errors.map((error) => `- ${error}`).join("\n")}\n` +
    "Answer again: one JSON value that fits the schema, and nothing else.";
}

function linesOf(
  found: readonly { readonly keyword: string; readonly instanceLocation: string; readonly error: string }[],
): string[] {
  const exact = found.filter(({ keyword }) => !ENCLOSING.has(keyword));
  const lines = (exact.length === 0 ? found : exact).map(({ instanceLocation, error }) => {
    const line = `${instanceLocation}: ${error}`.replace(/\s+/g, " ").replace(/\.$/, "").toWellFormed();
    return cutText(line, MAX_ERROR_LENGTH);
  });
  const more = lines.length - MAX_ERRORS;
  return more <= 0 ? lines : [...lines.slice(0, MAX_ERRORS), `and ${more} more`];
}

/** The draft that `$schema` names; the newest for any other. */
function draftOf({ $schema }: JsonObject): SchemaDraft {
  const name = typeof $schema === "string" ? $schema : "";
  if (/draft-0?4\b/.test(name)) return "4";
  if (/draft-0?[67]\b/.test(name)) return "7";
  return name.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Refuses what the validator would ignore, or would find only in some answers. */
function requireUsable(part: Schema, known: Readonly<Record<string, unknown>>): void {
  const { type, pattern, patternProperties, $ref, __absolute_ref__ } = part;
  if (type !== undefined && ![type].flat().every((name) => TYPES.has(name))) {
    throw unusable(`${JSON.stringify(type)} is no type`);
  }
  if (typeof $ref === "string" && known[__absolute_ref__ ?? $ref] === undefined) {
    throw unusable(`it refers to ${JSON.stringify($ref)}, which is not in it, and nothing else is loaded`);
  }
  if (Object.hasOwn(part, "$dynamicRef")) throw unusable("$dynamicRef is not supported");
  const patterns = [pattern, ...Object.keys(patternProperties ?? {})].filter((each) => each !== undefined);
  for (const each of patterns) orUnusable(() => new RegExp(each, "u"));
}

function orUnusable<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    throw unusable(messageOf(error), error);
  }
}

/** The message of an error of the validator: it lists all known schemas after the first line. */
function messageOf(error: unknown): string {
  if (error instanceof RangeError) return "its references have no end, or the nesting is too deep";
  return error instanceof Error ? (error.message.split("\n")[0] ?? "").replace(/\.$/, "") : String(error);
}

function unusable(why: string, cause?: unknown): RepriseError {
  return new RepriseError("usage", `Cannot check answers against the output schema: ${why}`, {
    hint: "Correct the file of --output-schema: a JSON schema without references to other files",
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * Checks what the program prints with `--json` against its schemas, with a validator that did not write them. The schemas are
 * closed here: a member that no schema names is a fault.
 */
import { type Schema, Validator } from "@cfworker/json-schema";
import { namedVerb, withVerbFirst } from "../../src/cli/leading_flags.ts";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";
import { type Documented, jsonSchema, type SchemaName, SCHEMAS } from "../../src/cli/schemas/schemas.ts";

/** The names of the verbs that print JSON, such as `ls` and `fixture ls`. */
export const JSON_VERBS: readonly string[] = [
  ...VERBS,
  ...FIXTURE_VERBS.map((verb) => ({ ...verb, name: `fixture ${verb.name}` })),
].filter(({ flags }) => "json" in flags).map(({ name }) => name);

const ALL = { top: VERBS, fixture: FIXTURE_VERBS };

/** The verb of a command line; `null` for a line that names none. */
function verbOf(given: readonly string[]): string | null {
  const args = withVerbFirst(given, ALL);
  const named = namedVerb(args, ALL);
  return named === null ? null : args.slice(0, named.words).join(" ");
}

/** The names of the documents that a verb prints, beside errors. */
export function documentsOf(verb: string): SchemaName[] {
  const all = Object.entries<Documented>(SCHEMAS) as [SchemaName, Documented][];
  return all.filter(([, { verbs }]) => verbs.includes(verb)).map(([name]) => name);
}

const validators = new Map<string, Validator>();

/** The faults of a value as a document; empty if it fits the schema. */
export function documentFaults(name: SchemaName, value: unknown): string[] {
  const validator = validators.get(name) ??
    new Validator(jsonSchema(name, { closed: true }) as Schema, "2020-12", false);
  validators.set(name, validator);
  const { valid, errors } = validator.validate(value);
  return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

/** The names of the documents of a verb that a value is; for an error, `error`. */
export function fittingDocuments(verb: string, value: unknown): SchemaName[] {
  const names: SchemaName[] = [...documentsOf(verb), "error"];
  return names.filter((name) => documentFaults(name, value).length === 0);
}

/**
 * The faults of the stdout of a call with `--json`: of lines that are no JSON, and of documents that fit none of the verb's
 * schemas. A wrapped command and a raw turn file have stdout to themselves. A line without its end is ignored: the process was
 * killed. Of deltas, which are alike, only the first is checked.
 */
export function outputFaults(args: readonly string[], stdout: string): string[] {
  const verb = verbOf(args);
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const isJson = own.includes("--json") &&
    !own.some((arg) => /^(--raw|--help|--version|--reporter)/.test(arg));
  if (!isJson || verb === null || ["serve", "record"].includes(verb) && own.length < args.length) return [];
  const seen = new Set<unknown>();
  return stdout.split("\n").slice(0, -1).flatMap((line) => {
    let value;
    try {
      value = JSON.parse(line);
    } catch {
      return [`no JSON: ${line}`];
    }
    const type = value?.type;
    if (typeof type === "string" && type.endsWith(".delta") && seen.has(type)) return [];
    seen.add(type);
    if (fittingDocuments(verb, value).length > 0) return [];
    return [`${verb} printed JSON that fits none of ${[...documentsOf(verb), "error"].join(", ")}: ${line}`];
  });
}

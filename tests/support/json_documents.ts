/**
 * Checks what the program prints with `--json` against its schemas, with a validator that did not write them. The schemas are
 * closed here: a member that no schema names is a fault.
 */
import { type Schema, Validator } from "@cfworker/json-schema";
import type { Json } from "./files.ts";

const FOLDER = new URL("../../docs/schemas/", import.meta.url);
/** The names of all schemas. */
const NAMES = [...Deno.readDirSync(FOLDER)].map(({ name }) => name.replace(".json", ""));
const WORDS: ReadonlySet<string> = new Set(NAMES.map((name) => name.split("-")[0] ?? ""));

/** The verb of a command line, with its second word after `fixture`; `null` for a line that names none. */
function verbOf(args: readonly string[]): string | null {
  const isVerb = (arg: string, at: number) => WORDS.has(arg) && args[at - 1] !== "-s";
  const [verb, ...rest] = args.slice(args.findIndex(isVerb));
  if (verb !== "fixture") return verb === undefined || !WORDS.has(verb) ? null : verb;
  const second = rest.find((arg) => NAMES.includes(`fixture-${arg}`));
  return second === undefined ? null : `fixture ${second}`;
}

/** The names of the documents that a verb prints, beside errors: those of its own name, and the report of a test. */
function documentsOf(verb: string): string[] {
  const own = verb.replace(" ", "-");
  const names = NAMES.filter((name) => name === own || name.startsWith(`${own}-`));
  return ["serve", "record"].includes(verb) ? [...names, "test-report"] : names;
}

/** A schema that refuses members that it does not name, except where it says that any are there. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]) => [name, closed(value)]);
  const isOpen = schema.type !== "object" || schema.properties === undefined ||
    "additionalProperties" in schema;
  return Object.fromEntries(isOpen ? members : [...members, ["additionalProperties", false]]);
}

const validators = new Map<string, Validator>();

/** The faults of a value as a document; empty if it fits the schema. */
export function documentFaults(name: string, value: unknown): string[] {
  const schema = () => closed(JSON.parse(Deno.readTextFileSync(new URL(`${name}.json`, FOLDER)))) as Schema;
  const validator = validators.get(name) ?? new Validator(schema(), "2020-12", false);
  validators.set(name, validator);
  const { valid, errors } = validator.validate(value);
  return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

/** The names of the documents of a verb that a value is; for an error, `error`. */
export function fittingDocuments(verb: string, value: unknown): string[] {
  return [...documentsOf(verb), "error"].filter((name) => documentFaults(name, value).length === 0);
}

/**
 * The faults of the stdout of a call with `--json`: of lines that are no JSON, and of documents that fit none of the verb's
 * schemas. A wrapped command and a raw turn file have stdout to themselves. A line without its end is ignored: the process was
 * killed. Of deltas, which are alike, only the first is checked.
 */
export function outputFaults(args: readonly string[], stdout: string): string[] {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const verb = verbOf(own);
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

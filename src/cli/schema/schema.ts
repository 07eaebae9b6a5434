/** The verb `schema`: prints the JSON Schema of a JSON document, or the list of all. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { makeOutput } from "../context.ts";
import type { CommonFlags } from "../flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { type Documented, jsonSchema, type SchemaName, SCHEMAS } from "../../schemas/schemas.ts";

/** Performs `schema`. A schema is JSON: it is printed the same with and without `--json`, but for line ends. */
export function schemaVerb(ports: ProgramPorts, name: string | undefined, flags: CommonFlags): ExitCode {
  const output = makeOutput(ports, flags);
  if (name === undefined) {
    const schemas = Object.entries<Documented>(SCHEMAS)
      .map(([name, { version, about, verbs }]) => ({ name, version, about, verbs }));
    if (output.options.json) output.json<"schema-list">({ schemas });
    else output.text(schemas.map(({ name, about }) => `${name.padEnd(18)} ${about}\n`).join(""));
    return 0;
  }
  if (!isSchemaName(name)) {
    throw new RepriseError("usage", `No JSON document is called ${JSON.stringify(name)}`, {
      hint: "List the names with: reprise schema",
    });
  }
  const schema = jsonSchema(name);
  if (output.options.json) output.json<"schema">(schema);
  else output.jsonText(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}

function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMAS, name);
}

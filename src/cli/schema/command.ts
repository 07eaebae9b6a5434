/** `reprise schema`: flags and declaration. */
import { argument, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS } from "../flags.ts";

export const SCHEMA_VERB: Verb = verb({
  name: "schema",
  about: "print the JSON Schema of a --json document; without a name, list them",
  arguments: [argument("[name]", "the name, such as run-event, ls or error")],
  flags: COMMON_FLAGS,
  examples: ["reprise schema", "reprise schema run-event"],
  load: async () => (await import("./schema.ts")).schemaVerb,
});

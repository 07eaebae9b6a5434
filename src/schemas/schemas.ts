/**
 * The table of all JSON documents that the program prints. It loads zod: only `schema`, the generator of the docs and tests
 * import it; other code imports its types.
 */
import * as z from "zod";
import type { JsonObject } from "../domain/json.ts";
import * as fixtures from "./fixtures.ts";
import * as inspection from "./inspection.ts";
import * as maintenance from "./maintenance.ts";
import { anyDryRun, anyJson, error, objectType, type Printed, textType } from "./parts.ts";
import { runEvent } from "./run_events.ts";
import * as server from "./server_events.ts";

export interface Documented<Schema extends z.ZodType = z.ZodType> {
  /** Rises if a reader of the last version could misread a document. */
  readonly version: number;
  /** The document or line, as in `The document of ls`. */
  readonly about: string;
  /** Verbs that print it; empty if all do. */
  readonly verbs: readonly string[];
  readonly schema: Schema;
}

function documented<Schema extends z.ZodType>(
  schema: Schema,
  about: string,
  ...verbs: readonly string[]
): Documented<Schema> {
  return { version: 1, about, verbs, schema };
}

const list = z.object({
  schemas: z.array(z.object({ name: textType, version: z.int(), about: textType, verbs: z.array(textType) })),
});

export const SCHEMAS = {
  "error": documented(error, "an error: the only document, or one of the last lines"),
  "dry-run": documented(anyDryRun, "the members that the documents of all dry runs have"),
  "run-event": documented(runEvent, "a line of run", "run"),
  "run-dry-run": documented(inspection.runDryRun, "the document of run --dry-run", "run"),
  "interrupt": documented(maintenance.interrupt, "the document of interrupt", "interrupt"),
  "compact": documented(maintenance.compact, "the document of compact", "compact"),
  "omit": documented(maintenance.omit, "the document of omit", "omit"),
  "fork": documented(maintenance.fork, "the document of fork", "fork"),
  "ls": documented(inspection.ls, "the document of ls", "ls"),
  "ls-remote": documented(inspection.lsRemote, "the document of ls --remote", "ls"),
  "search": documented(inspection.search, "the document of search", "search"),
  "show": documented(inspection.show, "the document of show", "show"),
  "show-turns": documented(inspection.showTurns, "the document of show --turns", "show"),
  "show-events": documented(inspection.showEvents, "the document of show --events", "show"),
  "show-html": documented(inspection.showHtml, "the document of show --html", "show"),
  "explain": documented(inspection.explain, "the document of explain", "explain"),
  "stats": documented(inspection.stats, "the document of stats without a session", "stats"),
  "stats-session": documented(inspection.statsSession, "the document of stats ID", "stats"),
  "doctor": documented(inspection.doctor, "the document of doctor", "doctor"),
  "repair": documented(maintenance.repair, "the document of repair ID", "repair"),
  "repair-all": documented(maintenance.repairAll, "the document of repair --all", "repair"),
  "repair-lift": documented(maintenance.repairLift, "the document of repair --lift-quarantine", "repair"),
  "fsck": documented(maintenance.fsck, "the document of fsck", "fsck"),
  "rename": documented(maintenance.rename, "the document of rename", "rename"),
  "export": documented(maintenance.exported, "the document of export to a file", "export"),
  "export-agent": documented(maintenance.exportedToAgent, "the document of export --to", "export"),
  "import": documented(maintenance.imported, "the document of import", "import"),
  "rm": documented(maintenance.rm, "the document of rm", "rm"),
  "rm-unused": documented(maintenance.rmUnused, "the document of rm --unused", "rm"),
  "sync": documented(maintenance.sync, "the document of sync", "sync"),
  "config-get": documented(anyJson, "config.json, or the value of a member", "config"),
  "config-set": documented(maintenance.configSet, "the document of config set", "config"),
  "config-path": documented(maintenance.configPathDocument, "the document of config path", "config"),
  "record-event": documented(server.recordEvent, "a line of record", "record"),
  "record-dry-run": documented(server.recordDryRun, "the document of record --dry-run", "record"),
  "serve-event": documented(server.serveEvent, "a line of serve", "serve"),
  "test-report": documented(
    server.testReportDocument,
    "the report of a test, of serve --suite and record --suite",
    "serve",
    "record",
  ),
  "certify": documented(server.certify, "the document of certify", "certify"),
  "test-event": documented(server.testEvent, "a line of test", "test"),
  "fixture-ls": documented(fixtures.fixtureLs, "the document of fixture ls", "fixture ls"),
  "fixture-show": documented(fixtures.fixtureShow, "the document of fixture show", "fixture show"),
  "fixture-show-html": documented(
    inspection.fixtureShowHtml,
    "the document of fixture show --html",
    "fixture show",
  ),
  "fixture-lint": documented(fixtures.fixtureLint, "the document of fixture lint", "fixture lint"),
  "fixture-redact": documented(fixtures.fixtureRedact, "the document of fixture redact", "fixture redact"),
  "fixture-seal": documented(fixtures.fixtureSealDocument, "the document of fixture seal", "fixture seal"),
  "fixture-import": documented(fixtures.fixtureImport, "the document of fixture import", "fixture import"),
  "fixture-diff": documented(fixtures.fixtureDiff, "the document of fixture diff", "fixture diff"),
  "fixture-prune": documented(fixtures.fixturePrune, "the document of fixture prune", "fixture prune"),
  "completions": documented(
    z.object({ shell: textType, text: textType }),
    "the document of completions",
    "completions",
  ),
  "schema-list": documented(list, "the document of schema without a name", "schema"),
  "schema": documented(objectType, "a JSON Schema, as json-schema.org defines it", "schema"),
} satisfies Readonly<Record<string, Documented>>;

export type SchemaName = keyof typeof SCHEMAS;

export type JsonDocument<Name extends SchemaName> = {
  [Each in SchemaName]: Printed<(typeof SCHEMAS)[Each]["schema"]>;
}[Name];

/** The JSON Schema (2020-12) of a document. */
export function jsonSchema(name: SchemaName, { closed = false }: {
  /** Refuses unknown members, as no reader should, to find out whether the schema names all. @default {false} */
  readonly closed?: boolean;
} = {}): JsonObject {
  const { version, about, schema }: Documented = SCHEMAS[name];
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    // Objects are closed in the schema of the output only.
    io: closed ? "output" : "input",
    override: ({ jsonSchema: each }) => {
      // Says only that a number is exact in JavaScript.
      if (each.maximum === Number.MAX_SAFE_INTEGER) delete each.maximum;
      if (each.minimum === Number.MIN_SAFE_INTEGER) delete each.minimum;
    },
  });
  const document = { $schema, $id: `urn:reprise:${name}:${version}`, title: `reprise: ${about}`, ...rest };
  return document as unknown as JsonObject;
}

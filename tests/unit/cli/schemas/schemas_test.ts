import assert from "node:assert/strict";
import { jsonSchema, type SchemaName, SCHEMAS } from "../../../../src/cli/schemas/schemas.ts";
import { readTree } from "../../../../scripts/house/tree.ts";
import { test } from "../../../support/test.ts";

const root = new URL("../../../../", import.meta.url).pathname;

test.long("only the verb schema loads the schemas, and zod with them: other code imports types", () => {
  const files = readTree(root).filter(({ path }) =>
    path.startsWith("src/") && path.endsWith(".ts") && !path.startsWith("src/cli/schemas/")
  );
  assert.ok(files.length > 200);
  const loading = files.flatMap(({ path, text }) =>
    [...text.matchAll(
      /^(?:import|export)\s+(?!type\b)[^;]*?\sfrom "[^"]*\/schemas\/[^"]*"|import\("[^"]*\/schemas\/[^"]*"\)/gm,
    )]
      .map(([found]) => `${path}: ${found}`)
  );
  assert.deepEqual(loading, ['src/cli/completion/command.ts: import("../schemas/schema.ts")']);
});

Deno.test("each schema names its version, and no object in it refuses members that a later version may add", () => {
  for (const name of Object.keys(SCHEMAS) as SchemaName[]) {
    const text = JSON.stringify(jsonSchema(name));
    assert.ok(text.includes(`"$id":"urn:reprise:${name}:${SCHEMAS[name].version}"`), name);
    assert.ok(!text.includes('"additionalProperties":false'), name);
  }
});

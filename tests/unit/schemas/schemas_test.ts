import assert from "node:assert/strict";

const FOLDER = new URL("../../../docs/schemas/", import.meta.url);

Deno.test("each schema names its version, and no object in it refuses members that a later version may add", () => {
  for (const { name } of Deno.readDirSync(FOLDER)) {
    const text = Deno.readTextFileSync(new URL(name, FOLDER));
    assert.match(text, new RegExp(`"\\$id": "urn:reprise:${name.replace(".json", "")}:\\d+"`), name);
    assert.doesNotMatch(text, /"additionalProperties": false/, name);
  }
});

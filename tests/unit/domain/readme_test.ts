import assert from "node:assert/strict";
import { checkSeal } from "../../../src/domain/seal.ts";

Deno.test("the turn file that the README shows is a real one: its checksum fits", () => {
  const readme = Deno.readTextFileSync(new URL("../../../README.md", import.meta.url));
  const shown = /```text\n(\{"format":"reprise\.turn\/1"[\s\S]*?\n)```/.exec(readme)?.[1];
  assert.ok(shown !== undefined, "the README shows no turn file");
  assert.ok(checkSeal(new TextEncoder().encode(shown)) !== null, "it does not fit its own sum");
});

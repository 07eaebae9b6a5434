/** Rows of the mutants fit the sources: the task that tries them is not part of CI. */
import assert from "node:assert/strict";
import { MUTANTS } from "../../mutants/mutants.ts";

Deno.test("each mutant changes a text that its file holds once", () => {
  for (const { file, text, replacement } of MUTANTS) {
    const source = Deno.readTextFileSync(new URL(`../../../${file}`, import.meta.url));
    assert.equal(source.split(text).length - 1, 1, `${file}: ${text}`);
    assert.notEqual(text, replacement);
  }
});

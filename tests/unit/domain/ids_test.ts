import assert from "node:assert/strict";
import * as fc from "fast-check";
import { freeSlugOf, isSessionId, slugOf } from "../../../src/domain/ids.ts";

Deno.test("sessions whose prompts begin alike get different names", () => {
  const ids: string[] = [];
  const name = (prompt: string) => {
    const slug = freeSlugOf(prompt, ids);
    ids.push(`${slug}-x4qa`);
    return slug;
  };
  assert.equal(name("Fix the failing test in the parser"), "fix-the-failing");
  assert.equal(name("Fix the failing build"), "fix-the-failing-build");
  assert.equal(name("Fix the failing test in the lexer"), "fix-the-failing-test");
  assert.equal(name("Fix the failing build"), "fix-the-failing-build-2");
  assert.equal(name("Fix the failing build"), "fix-the-failing-build-3");
  assert.deepEqual([name("آزمون را درست کن"), name("修复")], ["session", "session-2"]);
  assert.equal(new Set(ids).size, ids.length);
});

Deno.test("a name that nothing else has is the short one, and every name fits an id", () => {
  assert.equal(freeSlugOf("Fix the failing test", ["look-at-it-x4qa"]), slugOf("Fix the failing test"));
  // The number of an id that was taken is no part of the name.
  assert.equal(freeSlugOf("Look at it", ["look-at-it-x4qa-2"]), "look-at-it-2");
  const words = "pneumonoultramicroscopicsilicovolcanoconiosis ".repeat(9);
  const taken = [slugOf(words), freeSlugOf(words, [`${slugOf(words)}-aaaa`])].map((slug) => `${slug}-aaaa`);
  for (let count = 0; count < 20; count++) {
    const id = `${freeSlugOf(words, taken)}-aaaa`;
    assert.ok(isSessionId(`${id}-12`), id);
    assert.ok(!taken.includes(id));
    taken.push(id);
  }
});

Deno.test("a slug is always the start of a valid id", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (prompt) => {
      const slug = slugOf(prompt);
      assert.ok(isSessionId(`${slug}-x7k2`), slug);
      assert.ok(slug.length <= 24);
    }),
    { seed: 3 },
  );
});

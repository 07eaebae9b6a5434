/** Names of the recordings of tests, as the helpers of the npm package form them. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { recordingName, testId } from "../../../npm/helpers/names.js";
import { sha256 } from "../../support/files.ts";

Deno.test("a recording has the name of its test and the first 8 digits of the SHA-256 of its id", () => {
  const digits = sha256("id").slice(0, 8);
  for (
    const [test, slug] of [
      ["names a capital", "names-a-capital"],
      ["  Über: größer  (2)", "ber-gr-er-2"],
      ["日本", "test"],
      ["", "test"],
      ["a".repeat(100), "a".repeat(71)],
      [`${"a".repeat(70)} b`, "a".repeat(70)],
      ["test_httpx[1-a]", "test-httpx-1-a"],
    ] as const
  ) {
    assert.equal(recordingName(test, "id"), `${slug}-${digits}`);
  }
});

Deno.test("any name and id give a name that reprise accepts", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 120 }), fc.string(), (test, id) => {
    assert.match(recordingName(test, id), /^[a-z0-9][a-z0-9._-]{0,79}$/, test);
  }));
});

Deno.test("the id of a test is its file from the folder of recordings, its groups and its name", () => {
  assert.equal(
    testId("/p/fixtures/chat", "/p/tests/a.test.ts", ["group", "t"]),
    "../../tests/a.test.ts > group > t",
  );
  assert.equal(testId("/p/fixtures/chat", undefined, ["t"]), "t");
});

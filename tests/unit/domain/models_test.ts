import assert from "node:assert/strict";
import { familyOf, MODELS_AS_OF } from "../../../src/domain/models.ts";

const ROWS: readonly (readonly [string, string | null])[] = [
  ["gpt-5.6", "gpt-5.6"],
  ["GPT-5.6", "gpt-5.6"],
  ["gpt-5.6-mini", "gpt-5.6"],
  // A dated snapshot is one of its family.
  ["gpt-5.6-2026-08-01", "gpt-5.6"],
  ["gpt-5-2025-08-07", "gpt-5"],
  ["gpt-5.3-codex", "gpt-5.3"],
  ["gpt-6.1-sol", "gpt-6.1"],
  ["gpt-6", "gpt-6"],
  ["o3-mini", "o3"],
  ["codex-mini-latest", "codex-mini"],
  // A newer number is another family, not one of the older name.
  ["gpt-5.9", null],
  ["gpt-5.66", null],
  ["gpt-50", null],
  ["o30", null],
  ["gpt-4.1", null],
  ["openai/gpt-5.6", null],
  ["my-gpt-5.6", null],
  ["", null],
];

for (const [model, family] of ROWS) {
  Deno.test(`the family of "${model}" is ${family ?? "unknown"}`, () => {
    assert.equal(familyOf(model), family);
  });
}

Deno.test("the table of families says when it was checked", () => {
  assert.match(MODELS_AS_OF, /^20\d\d-[01]\d-[0-3]\d$/);
  assert.ok(!Number.isNaN(Date.parse(MODELS_AS_OF)));
});

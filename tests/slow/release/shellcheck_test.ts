/** The shell scripts, checked by shellcheck. */
import assert from "node:assert/strict";
import { outputOf, run } from "../../../scripts/process.ts";
import { readTree } from "../../../scripts/house/tree.ts";

Deno.test("shellcheck finds nothing in any shell script", async () => {
  const files = readTree(".");
  const scripts = files.filter(({ text }) => /^#!.*\b(?:ba)?sh\n/.test(text)).map(({ path }) => path);
  assert.ok(scripts.includes("install.sh") && scripts.includes(".ci/run"), scripts.join(" "));
  const checked = await run("shellcheck", scripts);
  assert.equal(checked.code, 0, outputOf(checked));
});

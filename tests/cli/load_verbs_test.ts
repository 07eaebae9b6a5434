import assert from "node:assert/strict";
import { loadVerbs } from "../../src/cli/load_verbs.ts";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";

Deno.test("a call of a verb loads that verb alone", async () => {
  for (const verb of VERBS) {
    assert.deepEqual(await loadVerbs([verb.name, "--json"]), { top: [verb], fixture: [] }, verb.name);
  }
  assert.deepEqual(await loadVerbs(["fixture", "ls"]), { top: [], fixture: FIXTURE_VERBS });
});

Deno.test("a call that names no verb loads all, for help and suggestions", async () => {
  const all = { top: VERBS, fixture: FIXTURE_VERBS };
  for (
    const args of [[], ["--help"], ["help", "run"], ["lss"], ["toString"], ["__proto__"], ["--json", "ls"]]
  ) {
    assert.deepEqual(await loadVerbs(args), all, args.join(" "));
  }
});

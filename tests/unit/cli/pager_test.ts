import assert from "node:assert/strict";
import { pagerCommand } from "../../../src/cli/pager.ts";

/** The pager in an environment. */
function pagerIn(env: Readonly<Record<string, string>>): string | null {
  return pagerCommand({ env: (name) => env[name] });
}

Deno.test("the pager is $PAGER or less; there is none for an empty PAGER, for cat, and on a dumb terminal", () => {
  assert.equal(pagerIn({}), "less");
  assert.equal(pagerIn({ PAGER: "most -w", TERM: "xterm" }), "most -w");
  assert.deepEqual([pagerIn({ PAGER: "" }), pagerIn({ PAGER: " cat " })], [null, null]);
  assert.equal(pagerIn({ PAGER: "less", TERM: "dumb" }), null);
});

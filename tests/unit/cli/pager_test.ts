import assert from "node:assert/strict";
import { pagerCommand } from "../../../src/cli/pager.ts";

/** The pager in an environment. */
function pagerIn(env: Readonly<Record<string, string>>): string | null {
  return pagerCommand({ env: (name) => env[name] });
}

Deno.test("the pager is $PAGER or less; there is none for an empty PAGER, for cat, and on a dumb terminal", () => {
  assert.equal(pagerIn({}), "less");
  assert.equal(pagerIn({ PAGER: "most -w", TERM: "xterm" }), "most -w");
  for (const env of [{ PAGER: "" }, { PAGER: " cat " }, { PAGER: "less", TERM: "dumb" }]) {
    assert.equal(pagerIn(env), null);
  }
});

import assert from "node:assert/strict";
import { killEverywhere } from "./kill_points.ts";
import { NAIVE } from "./naive.ts";
import { scenarioOf, SCENARIOS } from "./scenarios.ts";
import { hasStrace, withDirectory } from "./trace.ts";

const ignore = !hasStrace();
let total = 0;

for (const scenario of SCENARIOS) {
  Deno.test({
    name: `killed at any changing call, "${scenario.name}" tears nothing, loses nothing, and is finished`,
    ignore,
    fn: () =>
      withDirectory(async (root) => {
        const { points, wrong } = await killEverywhere(root, scenario);
        assert.deepEqual(wrong, []);
        total += points;
      }),
  });
}

Deno.test({
  name: "the operations were killed at 480 points and more",
  ignore,
  fn: () => assert.ok(total >= 480, `${total} points`),
});

/** Expected findings of the harness about each careless operation. */
const SAID: Record<string, RegExp> = {
  "append": /bad_sum turns\/000011\.json/,
  "import": /bad_sum turns\/0000\d\d\.json|missing_turn|missing_blob/,
  "rm": /missing_blob|missing_turn|bad_sum/,
  "repair of a damaged turn": /the damaged bytes are gone/,
};

for (const name of Object.keys(NAIVE)) {
  Deno.test({
    name: `the same harness fails a careless "${name}"`,
    ignore,
    fn: () =>
      withDirectory(async (root) => {
        const { wrong } = await killEverywhere(root, scenarioOf(name), "naive");
        assert.match(wrong.join("\n"), SAID[name] as RegExp);
      }),
  });
}

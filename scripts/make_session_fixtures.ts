/**
 * Makes the folders of `tests/sessions` anew: all of them, or those whose names begin with one of the arguments. The
 * sessions are synthetic, yet every request in them was accepted by the tests' servers under the API's own rules.
 *
 * After a change to prompts, tools or the request builder, `reprise test tests/sessions --update` is enough.
 *
 * @module
 */
import { DROPS } from "./sessions/drops.ts";
import { ENDS } from "./sessions/ends.ts";
import { FAULTS } from "./sessions/faults.ts";
import { LOOPS } from "./sessions/loops.ts";
import { makeSession } from "./sessions/make.ts";
import { PERMISSIONS } from "./sessions/permissions.ts";
import { REPLAYS } from "./sessions/replays.ts";
import type { Scenario } from "./sessions/scenario.ts";
import { SHAPES } from "./sessions/shapes.ts";
import { complain, runScript, say } from "./terminal.ts";

const root = new URL("../", import.meta.url).pathname;
/** Every folder. */
const SCENARIOS: readonly Scenario[] = [
  ...ENDS,
  ...FAULTS,
  ...SHAPES,
  ...DROPS,
  ...LOOPS,
  ...PERMISSIONS,
  ...REPLAYS,
];

await runScript(async () => {
  const chosen = SCENARIOS.filter(({ name }) =>
    Deno.args.length === 0 || Deno.args.some((start) => name.startsWith(start))
  );
  let failed = 0;
  for (const scenario of chosen) {
    try {
      await makeSession(`${root}tests/sessions/${scenario.name}`, scenario);
      say(`wrote tests/sessions/${scenario.name}`);
    } catch (error) {
      failed += 1;
      complain(error instanceof Error ? error.message : String(error));
    }
  }
  return failed === 0 ? 0 : 1;
});

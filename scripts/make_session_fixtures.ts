/**
 * Creates the folders of `tests/sessions` again: all of them, or those whose names begin with one of the arguments. The
 * sessions are synthetic, yet the tests' servers accepted every request in them under the API's own rules.
 *
 * After a change to prompts, tools or the request builder, `reprise test tests/sessions --update` is enough.
 *
 * @module
 */
import { FAULTS } from "./sessions/faults.ts";
import { LIFECYCLE } from "./sessions/lifecycle.ts";
import { LOOPS } from "./sessions/loops.ts";
import { makeSession } from "./sessions/make.ts";
import { PERMISSIONS } from "./sessions/permissions.ts";
import { REASONING } from "./sessions/reasoning.ts";
import { complain, runScript, say } from "./terminal.ts";

const root = new URL("../", import.meta.url).pathname;
const STORIES = [...LOOPS, ...LIFECYCLE, ...REASONING, ...FAULTS, ...PERMISSIONS];

await runScript(async () => {
  const chosen = STORIES.filter(({ name }) =>
    Deno.args.length === 0 || Deno.args.some((start) => name.startsWith(start))
  );
  let failed = 0;
  for (const story of chosen) {
    try {
      await makeSession(`${root}tests/sessions/${story.name}`, story);
      say(`wrote tests/sessions/${story.name}`);
    } catch (error) {
      failed += 1;
      complain(error instanceof Error ? error.message : String(error));
    }
  }
  return failed === 0 ? 0 : 1;
});

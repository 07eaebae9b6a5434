/** Stops an operation at each system call that changes something, and checks what its kill there would leave. */
import assert from "node:assert/strict";
import { lacksProgram, needing } from "../support/needs.ts";
import { reportedIn, wrongAfter } from "./aftermath.ts";
import { NAIVE } from "./naive.ts";
import { commandOf, DRIVER_MARK } from "./programs.ts";
import { type Scenario, scenarioOf, SCENARIOS } from "./scenarios.ts";
import { quietPlace } from "./sessions.ts";
import { type Call, copyDirectory, isChange, stopAtEach, withDirectory } from "./trace.ts";

const LACKS = lacksProgram("strace");
let total = 0;

/**
 * Lets the driver do a scenario in `mode`, and checks a copy of the files at every point; with `until`, up to a finding
 * that fits. Returns the number of points, and the findings.
 */
async function killEverywhere(
  root: string,
  scenario: Scenario,
  { mode = "act", until }: { readonly mode?: "act" | "naive"; readonly until?: RegExp } = {},
): Promise<{ readonly points: number; readonly wrong: readonly string[] }> {
  const start = `${root}/start`;
  await Deno.mkdir(start);
  await scenario.prepare(quietPlace(`${start}/home`));
  let points = 0;
  const wrong: string[] = [];
  const command = [...await commandOf("driver"), mode, `${start}/home`, scenario.name];
  const { calls, code, stderr } = await stopAtEach(command, DRIVER_MARK, async (calls) => {
    const last = calls.at(-1) as Call;
    if (!isChange(last, root)) return true;
    const copy = `${root}/${++points}`;
    await copyDirectory(start, copy);
    const found = await wrongAfter(scenario, quietPlace(`${copy}/home`), reportedIn(calls));
    wrong.push(...found.map((each) => `killed after ${last.name} ${last.path.slice(root.length)}: ${each}`));
    await Deno.remove(copy, { recursive: true });
    return !found.some((each) => until?.test(each));
  });
  if (until !== undefined) return { points, wrong };
  assert.equal(code, 0, stderr);
  assert.ok(reportedIn(calls).done);
  return { points, wrong };
}

for (const scenario of SCENARIOS) {
  Deno.test({
    ...needing(
      `killed at any changing call, "${scenario.name}" tears nothing, loses nothing, and is finished`,
      LACKS,
    ),
    fn: () =>
      withDirectory(async (root) => {
        const { points, wrong } = await killEverywhere(root, scenario);
        assert.deepEqual(wrong, []);
        total += points;
      }),
  });
}

Deno.test({
  ...needing("the operations were killed at 480 points and more", LACKS),
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
    ...needing(`the same harness fails a careless "${name}"`, LACKS),
    fn: () =>
      withDirectory(async (root) => {
        const until = SAID[name] as RegExp;
        const { wrong } = await killEverywhere(root, scenarioOf(name), { mode: "naive", until });
        assert.match(wrong.join("\n"), until);
      }),
  });
}

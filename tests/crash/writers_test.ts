import assert from "node:assert/strict";
import { fsckSession } from "../../src/store/check/fsck.ts";
import { openHome } from "../../src/store/home.ts";
import { readSession } from "../../src/store/read/session.ts";
import { type Run, runDriver } from "./programs.ts";
import { ID, testPorts, writeRuns } from "./sessions.ts";
import { withDirectory } from "./trace.ts";
import { scaled } from "../support/scale.ts";

const APPENDS = 60;
const PROCESSES = 8;
/** Of each of the eight. */
const MANY = scaled(40, 250);

/** Runs processes that append to one session at the same time. */
async function writers(home: string, mode: string, { count, appends }: { count: number; appends: number }) {
  writeRuns(home, 1);
  return await Promise.all(Array.from({ length: count }, () => runDriver(mode, home, String(appends))));
}

/** Every acknowledged turn is there once, the numbers have no gap, and every turn that is there was acknowledged. */
async function assertOneHistory(homePath: string, runs: readonly Run[], appends: number): Promise<void> {
  const ports = testPorts();
  const home = openHome(ports, homePath);
  const { turns } = readSession(ports, home, ID);
  const saved = runs.flatMap((run) => [...run.saved]);
  assert.equal(saved.length, runs.length * appends);
  assert.equal(new Set(saved.map(([turn]) => turn)).size, saved.length, "two writers got the same number");
  for (const [turn, sum] of saved) assert.equal(turns[turn - 1]?.sum, sum);
  assert.equal(turns.length, 5 + saved.length);
  const { findings } = await fsckSession(ports, home, ID);
  assert.deepEqual(findings.filter(({ severity, code }) => severity === "error" || code === "leftover"), []);
}

Deno.test(`${PROCESSES} processes under the lock append ${MANY} turns each to one history, and none diverges`, () =>
  withDirectory(async (root) => {
    const home = `${root}/home`;
    const runs = await writers(home, "loop", { count: PROCESSES, appends: MANY });
    await assertOneHistory(home, runs, MANY);
    assert.deepEqual(runs.flatMap(({ refused }) => refused), []);
    assert.throws(() => Deno.statSync(`${home}/sessions/${ID}/quarantine`), Deno.errors.NotFound);
  }));

Deno.test("two processes that no lock keeps apart still append one history: the later one is refused", () =>
  withDirectory(async (root) => {
    const runs = await writers(`${root}/home`, "loop-without-lock", { count: 2, appends: APPENDS });
    await assertOneHistory(`${root}/home`, runs, APPENDS);
    const refused = runs.flatMap(({ refused }) => refused);
    assert.ok(refused.includes("session_diverged"), "the two never met: the test shows nothing");
    // Without the lock each sweeps the other's temporary files, which is an error and no loss.
    assert.deepEqual(refused.filter((code) => code !== "session_diverged" && code !== "storage_failed"), []);
  }));

/**
 * Kills an operation on entry to each system call that changes something, one after the other, and looks at what is
 * left each time.
 *
 * @module
 */
import assert from "node:assert/strict";
import { testPorts } from "../unit/store/support.ts";
import { wrongAfter } from "./aftermath.ts";
import type { Scenario } from "./scenarios.ts";
import type { Place } from "./sessions.ts";
import { type Call, traceDriver, variantsOf } from "./trace.ts";

/** Most attempts to hit a point. Few need more than one. */
const TRIES = 40;

/** Number of points that are tried side by side: much of a traced run is waiting. */
const LANES = 2;

/** Returns the number of calls of that name that the runtime made before the driver's mark. */
function startOf(calls: readonly Call[], name: string): number {
  const first = calls.find((call) => call.name === name);
  return first === undefined ? 0 : first.ordinal - 1;
}

/** Numbers of calls of each name that the runtime made before the mark, in every run so far. */
class Starts {
  readonly #seen = new Map<string, number[]>();

  constructor(calls: readonly Call[]) {
    this.learn(calls);
  }

  learn(calls: readonly Call[]): void {
    for (const name of new Set(calls.map((call) => call.name))) {
      this.#seen.set(name, [...this.#seen.get(name) ?? [], startOf(calls, name)]);
    }
  }

  /**
   * One of the counts that were seen; another one with each attempt, the frequent ones more often. From the fourth
   * attempt on, a count beside it: the runtime may also have made a call between the mark and the point, in the run
   * that the point was taken from or in this one.
   */
  guess(name: string, attempt: number): number {
    const seen = (this.#seen.get(name) ?? [0]).toSorted((a, b) => a - b);
    const at = (Math.floor(seen.length / 2) + attempt * Math.ceil(seen.length / 3)) % seen.length;
    const round = Math.floor(attempt / 3);
    return (seen[at] as number) + (round % 2 === 0 ? -round / 2 : (round + 1) / 2);
  }
}

/** The calls that change the disk, of the opening ones those that create, and those that tell somebody. */
export function isPoint({ name, creates, path, data }: Call, root: string): boolean {
  if (name === "write" && /^(?:saved |done)/.test(data)) return true;
  return (name !== "open" || creates) && path.startsWith(root);
}

/** A place for an operation in this process, on the real disk, without reports. */
export function quietPlace(home: string): Place {
  return { ports: testPorts(), home, acknowledge: () => {} };
}

/** A copy of the home that was prepared, with what lies beside it. */
export async function copyHome(from: string, to: string): Promise<void> {
  const command = new Deno.Command("cp", { args: ["-r", "--preserve=mode,links", from, to] });
  assert.ok((await command.output()).success);
}

/**
 * Kills the driver at every point of `mode`, which does the scenario, each time from the same start. Returns how many
 * points there were, and what was wrong at which.
 */
export async function killEverywhere(
  root: string,
  scenario: Scenario,
  mode: "act" | "naive" = "act",
): Promise<{ readonly points: number; readonly wrong: readonly string[] }> {
  await Deno.mkdir(`${root}/start`);
  await scenario.prepare(quietPlace(`${root}/start/home`));
  await copyHome(`${root}/start`, `${root}/whole`);
  const whole = await traceDriver([mode, `${root}/whole/home`, scenario.name]);
  assert.ok(whole.success, whole.stderr);
  assert.ok(whole.done);
  const targets = whole.calls.filter((call) => isPoint(call, root));
  const wrong: string[] = [];
  const hit = new Set<number>();
  const starts = new Starts(whole.calls);
  const queue = [...targets.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await killAt(...next);
  };
  const killAt = async (position: number, target: Call) => {
    // The runtime's own start makes a call more or less each time, above all on a busy machine: then another
    // point was hit, and this one is aimed at again.
    for (let attempt = 0; attempt < TRIES && !hit.has(position); attempt++) {
      const directory = `${root}/${position}-${attempt}`;
      await copyHome(`${root}/start`, directory);
      const home = `${directory}/home`;
      const when = starts.guess(target.name, attempt) + target.ordinal - startOf(whole.calls, target.name);
      const run = await traceDriver(
        [mode, home, scenario.name],
        `${variantsOf(target.name)}:signal=KILL:when=${when}`,
      );
      const last = run.calls.filter((call) => isPoint(call, root)).length - 1;
      const found = await wrongAfter(scenario, quietPlace(home), run);
      wrong.push(
        ...found.map((each) => `killed at ${target.name} ${target.path.slice(root.length)}: ${each}`),
      );
      if (run.killed && last >= 0) hit.add(last);
      starts.learn(run.calls);
      await Deno.remove(directory, { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const missed = targets.filter((_, position) => !hit.has(position));
  assert.deepEqual(missed, [], "some points were not hit");
  return { points: targets.length, wrong };
}

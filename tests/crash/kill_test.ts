import assert from "node:assert/strict";
import { parseSessionId } from "../../src/domain/ids.ts";
import { turnFileName } from "../../src/domain/turn.ts";
import { fsckSession } from "../../src/store/fsck.ts";
import { openHome } from "../../src/store/home.ts";
import { readSession } from "../../src/store/read.ts";
import { SessionWriter } from "../../src/store/writer.ts";
import { endDraft, putPinned, testPorts, userDraft } from "../store/support.ts";
import { type Call, hasStrace, mustRun, traceDriver, variantsOf, withDirectory } from "./trace.ts";

const ignore = !hasStrace();
const ID = parseSessionId("crash");

/** How often a point is aimed at, at most. Few need more than one. */
const TRIES = 40;

/** How many calls of that name the runtime made before the driver's mark. */
function startOf(calls: readonly Call[], name: string): number {
  const first = calls.find((call) => call.name === name);
  return first === undefined ? 0 : first.ordinal - 1;
}

/** How many calls of each name the runtime made before the mark, in every run so far. */
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

  /** One of the counts that were seen; another one with each attempt, the frequent ones more often. */
  guess(name: string, attempt: number): number {
    const seen = (this.#seen.get(name) ?? [0]).toSorted((a, b) => a - b);
    const at = (Math.floor(seen.length / 2) + attempt * Math.ceil(seen.length / 3)) % seen.length;
    return seen[at] as number;
  }
}

/** True for the calls that change the disk; of the opening ones, those that create. */
function isChanging({ name, creates }: Call): boolean {
  return name !== "open" || creates;
}

function isAcknowledgement({ name, data }: Call): boolean {
  return name === "write" && data.startsWith("saved ");
}

/** What is wrong after a crash: torn or missing turns, lost acknowledged ones, a session that does not go on. */
async function wrongAfterCrash(homePath: string, saved: ReadonlyMap<number, string>): Promise<string[]> {
  const ports = testPorts();
  const home = openHome(ports, homePath, { create: true });
  const turn1 = `${home.sessions}/${ID}/turns/${turnFileName(1)}`;
  const wrong: string[] = [];
  try {
    const exists = ports.files.facts(turn1) !== null;
    if (exists) {
      const errors = (await fsckSession(ports, home, ID)).findings.filter(({ severity }) =>
        severity === "error"
      );
      wrong.push(...errors.map(({ code, path }) => `${code} ${path}`));
      const { turns } = readSession(ports, home, ID);
      for (const [turn, sum] of saved) {
        if (turns[turn - 1]?.sum !== sum) wrong.push(`lost acknowledged turn ${turn}`);
      }
    } else if (saved.size > 0) wrong.push("lost every acknowledged turn");
    const writer = exists
      ? await SessionWriter.open(ports, home, { id: ID })
      : await SessionWriter.create(ports, home, { id: ID });
    putPinned(writer);
    if (!writer.end.runEnded) writer.append(endDraft(writer.end.run));
    writer.append(userDraft("after the crash", writer.end.run + 1));
    writer.close();
    const leftovers = ports.files.list(writer.path).filter((name) => name.startsWith(".tmp-"));
    wrong.push(...leftovers.map((name) => `left ${name}`));
  } catch (error) {
    wrong.push(`does not go on: ${error}`);
  }
  return wrong;
}

/**
 * Kills the driver on entry to each changing call of `mode` in turn, each time from the same start. Returns how
 * many points there were, and what was wrong at which.
 */
async function killEverywhere(
  root: string,
  mode: string,
  prepare: (home: string) => Promise<unknown>,
): Promise<{ points: number; wrong: string[] }> {
  await prepare(`${root}/whole`);
  const whole = await traceDriver([mode, `${root}/whole`]);
  assert.ok(whole.success, whole.stderr);
  const isPoint = (call: Call) => isAcknowledgement(call) || isChanging(call) && call.path.startsWith(root);
  const targets = whole.calls.filter(isPoint);
  const wrong: string[] = [];
  const hit = new Set<number>();
  const starts = new Starts(whole.calls);
  for (const [position, target] of targets.entries()) {
    // The runtime's own start makes a call more or less each time, above all on a busy machine: then another
    // point was hit, and this one is aimed at again.
    for (let attempt = 0; attempt < TRIES && !hit.has(position); attempt++) {
      const home = `${root}/${position}-${attempt}`;
      await prepare(home);
      const when = starts.guess(target.name, attempt) + target.ordinal - startOf(whole.calls, target.name);
      const run = await traceDriver([mode, home], `${variantsOf(target.name)}:signal=KILL:when=${when}`);
      const last = run.calls.filter(isPoint).length - 1;
      const found = await wrongAfterCrash(home, run.saved);
      wrong.push(
        ...found.map((each) => `killed at ${target.name} ${target.path.slice(root.length)}: ${each}`),
      );
      if (run.killed && last >= 0) hit.add(last);
      starts.learn(run.calls);
    }
  }
  const missed = targets.filter((_, position) => !hit.has(position));
  assert.deepEqual(missed, [], "some points were not hit");
  return { points: targets.length, wrong };
}

Deno.test({
  name: "a first run that is killed at any changing call loses nothing that was acknowledged and goes on",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const { points, wrong } = await killEverywhere(root, "first", () => Promise.resolve());
      assert.deepEqual(wrong, []);
      assert.ok(points >= 60, `only ${points} points`);
    }),
});

Deno.test({
  name: "a later run that is killed at any changing call loses nothing that was acknowledged and goes on",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const { points, wrong } = await killEverywhere(root, "next", (home) => mustRun("prepare", home));
      assert.deepEqual(wrong, []);
      assert.ok(points >= 35, `only ${points} points`);
    }),
});

Deno.test({
  name: "the same harness fails a writer that writes the final file in place",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const { wrong } = await killEverywhere(root, "naive", (home) => mustRun("prepare", home));
      assert.ok(wrong.some((each) => each.includes("bad_sum turns/000006.json")), JSON.stringify(wrong));
    }),
});

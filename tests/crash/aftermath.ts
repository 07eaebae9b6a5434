/** Checks of a session after an operation was cut short at any point. */
import assert from "node:assert/strict";
import type { SessionId } from "../../src/domain/ids.ts";
import { fsckSession } from "../../src/store/check/fsck.ts";
import { sessionPaths, turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read/session.ts";
import { collect, type Scenario } from "./scenarios.ts";
import { homeOf, pathsOf, type Place } from "./sessions.ts";
import type { Call } from "./trace.ts";

/** Acknowledgements before the end. */
export interface Reported {
  /** Turns by number, with their sums. */
  readonly saved: ReadonlyMap<number, string>;
  /** The operation said that it was done. */
  readonly done: boolean;
}

/** The acknowledgements among these calls. */
export function reportedIn(calls: readonly Call[]): Reported {
  const written = calls.filter(({ name }) => name === "write").map(({ data }) => data);
  const saved = written.flatMap((data) => {
    const [, turn, sum = ""] = /^saved (\d+) ([0-9a-f]{64})/.exec(data) ?? [];
    return turn === undefined ? [] : [[Number(turn), sum] as const];
  });
  return { saved: new Map(saved), done: written.some((data) => data.startsWith("done")) };
}

/**
 * Returns the faults after an operation was cut short: torn or missing turns, lost acknowledged ones, half a session in
 * view, a second try that fails, anything left behind.
 */
export async function wrongAfter(
  scenario: Scenario,
  place: Place,
  reported: Reported,
): Promise<string[]> {
  const wrong: string[] = [];
  const look = async (what: string, body: () => Promise<void>) => {
    try {
      await body();
    } catch (error) {
      wrong.push(`${what}: ${error instanceof Error ? error.message : error}`);
    }
  };
  await look("before the second try", async () => {
    if (scenario.isDamaged !== true || reported.done) await assertSound(place);
    assertSaved(place, reported.saved);
    if (reported.done) await scenario.after(place);
  });
  await look("the second try", () => scenario.again(place));
  await look("after the second try", async () => {
    await assertSound(place);
    assertSaved(place, reported.saved);
    await collect(place);
    const names = place.ports.files.list(`${place.home}/sessions`);
    assert.deepEqual(names.filter((name) => name.startsWith(".")), [], "hidden directories are left");
    await assertSound(place);
  });
  return wrong;
}

/** Every session in view is whole, or has no turn yet. */
async function assertSound(place: Place): Promise<void> {
  const { ports } = place;
  const home = homeOf(place);
  for (const id of ports.files.list(home.sessions).filter((name) => !name.startsWith("."))) {
    const paths = sessionPaths(home.sessions, id as SessionId);
    const named = [paths.turns, paths.manifest].filter((path) => ports.files.facts(path) !== null);
    if (named.length === 0 || !named.includes(paths.manifest) && ports.files.list(paths.turns).length === 0) {
      continue;
    }
    const { findings } = await fsckSession(ports, home, id as SessionId);
    const errors = findings.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors.map(({ code, path }) => `${code} ${path}`), [], id);
    readSession(ports, home, id as SessionId);
  }
}

function assertSaved(place: Place, saved: ReadonlyMap<number, string>): void {
  for (const [turn, sum] of saved) {
    const path = turnPath(pathsOf(place), turn);
    const there = place.ports.files.facts(path) !== null &&
      Deno.readTextFileSync(path).endsWith(`"${sum}"}\n`);
    assert.ok(there, `acknowledged turn ${turn} is not there`);
  }
}

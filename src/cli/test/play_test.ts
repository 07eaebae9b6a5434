/**
 * One session test from start to end.
 *
 * @module
 */
import { asRepriseError, type RepriseError } from "../../domain/errors.ts";
import type { Files } from "../../domain/ports.ts";
import { type Fixture, readFixture } from "../../fixture/read.ts";
import { readCallPlayer } from "../../fixture/session/tools_file.ts";
import { readSessionFile, type SessionFile } from "../../fixture/session/session_file.ts";
import { fileError, systemCode } from "../../store/fs_errors.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { checkStepArguments } from "../step_arguments.ts";
import { compareEnd, compareRequests, compareSessions, compareUse } from "./compare.ts";
import type { Divergence } from "./divergence.ts";
import { expectedState, type Rewritten, sessionState } from "./expectation.ts";
import type { FoundTest } from "./find.ts";
import { makePlace } from "./place.ts";
import { requireSealedStart } from "./start.ts";
import { playStep } from "./step.ts";
import { type PlayedStep, updateTest } from "./update.ts";

/** What became of a test. */
export interface TestResult {
  /** Its folder, as it was named. */
  readonly name: string;
  /** Its promise; `null` where the folder could not be read or does not say it. */
  readonly note: string | null;
  readonly divergences: readonly Divergence[];
  /** Why it could not be played; `null` otherwise. */
  readonly error: RepriseError | null;
  /** What `--update` rewrote, and what it took away: paths below the folder. */
  readonly updated: readonly string[];
  readonly removed: readonly string[];
  readonly seconds: number;
}

/** How tests are played. */
export interface TestPlay {
  /** Those of the program that plays them. */
  readonly ports: ProgramPorts;
  /** What is rewritten where the steps end as they should: `expect/` alone needs the recorded requests too. */
  readonly update: "everything" | "expect" | null;
  readonly signal: AbortSignal;
}

/** Plays a test. Does not throw: what is wrong with the folder is part of the result. */
export async function playTest({ name, directory }: FoundTest, play: TestPlay): Promise<TestResult> {
  const began = performance.now();
  const told = { note: null as string | null };
  const result = (rest: Partial<TestResult>): TestResult => ({
    name,
    ...told,
    divergences: [],
    error: null,
    updated: [],
    removed: [],
    seconds: (performance.now() - began) / 1000,
    ...rest,
  });
  try {
    const session = readSessionFile(play.ports.files, directory, checkStepArguments);
    told.note = session.note ?? null;
    const first = await playSession(directory, session, play);
    if (play.update !== "everything" || !isRewritten(first)) return result(first);
    const again = await playSession(directory, session, { ...play, update: null });
    return result({ ...first, divergences: again.divergences.map(asUnsteady) });
  } catch (error) {
    const isSystem = systemCode(error) !== null;
    return result({
      error: isSystem ? fileError(error, "play the session test", directory) : asRepriseError(error),
    });
  }
}

type Played = Pick<TestResult, "divergences" | keyof Rewritten>;

function isRewritten({ updated, removed }: Rewritten): boolean {
  return updated.length > 0 || removed.length > 0;
}

/** What differs from what the play before it has written: no later one will pass either. */
function asUnsteady({ where, ...divergence }: Divergence): Divergence {
  return { ...divergence, where: `${where}, played once more` };
}

async function playSession(
  directory: string,
  { steps }: SessionFile,
  { ports, update, signal }: TestPlay,
): Promise<Played> {
  const { files } = ports;
  const fixtures = steps.map(({ fixture }) =>
    fixture === undefined ? null : readWhole(files, directory, fixture)
  );
  requireSealedStart(files, directory);
  const clockOf = (index: number) => steps[index]?.at ?? nearestClock(fixtures, index);
  // Commands such as "ls -l" tell times of files: those of the test's own are the same in each play.
  using place = await makePlace(ports, directory, new Date(clockOf(0)));
  const played: PlayedStep[] = [];
  const fixed: Divergence[] = [];
  const open: Divergence[] = [];
  for (const [index, step] of steps.entries()) {
    const fixture = fixtures[index] ?? null;
    const number = index + 1;
    const clock = clockOf(index);
    const end = await playStep(step, { ports, place, fixture: fixture?.path ?? null, clock, signal });
    signal.throwIfAborted();
    played.push({ fixture, end });
    fixed.push(...compareEnd(step, end, number));
    if (fixture === null) continue;
    fixed.push(...compareUse(fixture, end, number));
    open.push(...compareRequests(fixture, end, number));
  }
  const state = sessionState(place.home);
  const rewrites = fixed.length === 0 &&
    (update === "everything" || (update === "expect" && open.length === 0));
  if (rewrites) return { divergences: [], ...updateTest(files, directory, { steps: played, state }) };
  const expected = expectedState(directory);
  open.push(...expected === null ? [NO_EXPECTATION] : compareSessions(expected, state));
  return { divergences: [...fixed, ...open], updated: [], removed: [] };
}

/** The fixture of a step. Its tools are read too, so that what is broken about them is told as such. */
function readWhole(files: Files, directory: string, name: string): Fixture {
  const fixture = readFixture(files, name === "." ? directory : `${directory}/${name}`);
  readCallPlayer(files, fixture);
  return fixture;
}

/** The clock of the last fixture before a step, else of the next one; long ago where there is none at all. */
function nearestClock(fixtures: readonly (Fixture | null)[], index: number): string {
  const isOne = (fixture: Fixture | null) => fixture !== null;
  const nearest = fixtures.slice(0, index).findLast(isOne) ?? fixtures.slice(index).find(isOne);
  return nearest?.header.created ?? "2000-01-01T00:00:00.000Z";
}

const NO_EXPECTATION: Divergence = {
  kind: "no_expectation",
  where: "expect/",
  message: "is not there: --update writes it from what the session is now",
};

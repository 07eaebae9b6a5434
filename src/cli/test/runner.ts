/** Runs session tests: one from start to end, and several at a time. */
import { asRepriseError, type RepriseError } from "../../domain/errors.ts";
import type { Files } from "../../domain/ports.ts";
import { type Fixture, readFixture } from "../../fixture/read.ts";
import { readSessionFile, type SessionTestFile } from "../../fixture/session/session_file.ts";
import { readCallPlayer } from "../../fixture/session/tools_file.ts";
import { fileError, systemCode } from "../../store/fs_errors.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { checkStepArguments } from "../step_arguments.ts";
import { compareEnd, compareRequests, compareSessions, compareUse, type Divergence } from "./compare.ts";
import { expectedState, type PlayedStep, type Rewritten, sessionState, updateTest } from "./expectation.ts";
import { createScratch, requireSealedStart } from "./scratch.ts";
import { playStep } from "./step.ts";

/** A folder with a `session.json`. */
export interface SessionTest {
  /** The path as the user gave it, or below a folder that the user gave. */
  readonly name: string;
  readonly directory: string;
}

export interface TestResult {
  readonly name: string;
  /** Its promise; `null` if the folder is unreadable or has none. */
  readonly note: string | null;
  readonly divergences: readonly Divergence[];
  /** `null` if it could be played. */
  readonly error: RepriseError | null;
  /** Files that `--update` rewrote and removed: paths below the folder. */
  readonly updated: readonly string[];
  readonly removed: readonly string[];
  readonly seconds: number;
}

interface TestOptions {
  readonly ports: ProgramPorts;
  /** Files to rewrite if the steps end as they should; `expect` also requires the recorded requests. */
  readonly update: "everything" | "expect" | null;
  readonly signal: AbortSignal;
}

/** Plays a test. Does not throw: an error of the folder is part of the result. */
export async function playTest({ name, directory }: SessionTest, options: TestOptions): Promise<TestResult> {
  const began = performance.now();
  let note: string | null = null;
  const result = (rest: Partial<TestResult>): TestResult => ({
    name,
    note,
    divergences: [],
    error: null,
    updated: [],
    removed: [],
    seconds: (performance.now() - began) / 1000,
    ...rest,
  });
  try {
    const session = readSessionFile(options.ports.files, directory, checkStepArguments);
    note = session.note ?? null;
    const first = await playSession(directory, session, options);
    if (options.update !== "everything" || !isRewritten(first)) return result(first);
    const again = await playSession(directory, session, { ...options, update: null });
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

/** A divergence from files that the previous play has just written: later plays fail too. */
function asUnsteady({ where, ...divergence }: Divergence): Divergence {
  return { ...divergence, where: `${where}, played once more` };
}

async function playSession(
  directory: string,
  { steps }: SessionTestFile,
  { ports, update, signal }: TestOptions,
): Promise<Played> {
  const { files } = ports;
  const fixtures = steps.map(({ fixture }) =>
    fixture === undefined ? null : readWhole(files, directory, fixture)
  );
  requireSealedStart(files, directory);
  const clockOf = (index: number) => steps[index]?.at ?? nearestClock(fixtures, index);
  // Commands such as "ls -l" print the times of files: those of the workspace are the same in each play.
  using scratch = await createScratch(ports, directory, new Date(clockOf(0)));
  const played: PlayedStep[] = [];
  const fixed: Divergence[] = [];
  const open: Divergence[] = [];
  for (const [index, step] of steps.entries()) {
    const fixture = fixtures[index] ?? null;
    const number = index + 1;
    const clock = clockOf(index);
    const end = await playStep(step, { ports, scratch, fixture: fixture?.path ?? null, clock, signal });
    signal.throwIfAborted();
    played.push({ fixture, end });
    fixed.push(...compareEnd(step, end, number));
    if (fixture === null) continue;
    fixed.push(...compareUse(fixture, end, number));
    open.push(...compareRequests(fixture, end, number));
  }
  const state = sessionState(scratch.home);
  const rewrites = fixed.length === 0 &&
    (update === "everything" || (update === "expect" && open.length === 0));
  if (rewrites) return { divergences: [], ...updateTest(files, directory, { steps: played, state }) };
  const expected = expectedState(directory);
  open.push(...expected === null ? [NO_EXPECTATION] : compareSessions(expected, state));
  return { divergences: [...fixed, ...open], updated: [], removed: [] };
}

/** Reads the fixture of a step. Its tools are read too, so that a broken file among them is reported before the play. */
function readWhole(files: Files, directory: string, name: string): Fixture {
  const fixture = readFixture(files, name === "." ? directory : `${directory}/${name}`);
  readCallPlayer(files, fixture);
  return fixture;
}

/** The clock of the last fixture before a step, else of the next one; a fixed one without any fixture. */
function nearestClock(fixtures: readonly (Fixture | null)[], index: number): string {
  const isOne = (fixture: Fixture | null) => fixture !== null;
  const nearest = fixtures.slice(0, index).findLast(isOne) ?? fixtures.slice(index).find(isOne);
  return nearest?.header.created ?? "2000-01-01T00:00:00.000Z";
}

const NO_EXPECTATION: Divergence = {
  kind: "no_expectation",
  where: "expect/",
  message: "is missing: --update writes it from the session as it is now",
};

/**
 * Plays `tests`, `jobs` at a time, and yields their results in order, each as soon as those before it are yielded. A
 * consumer that leaves the loop starts no further test; `abandon` is then called, and the running tests are awaited.
 */
export async function* inOrder<Test, Result>(
  tests: readonly Test[],
  jobs: number,
  { play, abandon }: { readonly play: (test: Test) => Promise<Result>; readonly abandon: () => void },
): AsyncGenerator<Result> {
  const results = tests.map(() => Promise.withResolvers<Result>());
  let next = 0;
  const worker = async () => {
    while (next < tests.length) {
      const index = next++;
      const slot = results[index] as PromiseWithResolvers<Result>;
      await play(tests[index] as Test).then(slot.resolve, slot.reject);
    }
  };
  const workers = Array.from({ length: Math.min(jobs, tests.length) }, worker);
  let yielded = 0;
  try {
    for (const { promise } of results) {
      const result = await promise;
      yielded += 1;
      yield result;
    }
  } finally {
    if (yielded < tests.length || next < tests.length) abandon();
    next = tests.length;
    await Promise.all(workers);
  }
}

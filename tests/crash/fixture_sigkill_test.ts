/**
 * Kills recorders and pruners at random moments: each fixture is the one before or after, it plays, and the next process
 * that writes to it finishes the work.
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { Dice } from "../support/dice.ts";
import type { Started } from "../support/reprise.ts";
import { foldersIn } from "../doors/recordings/recording_files.ts";
import { type SeenFixture, seenFixture } from "./fixture_oracle.ts";
import { type Inputs, Place, type State, type Step, STEPS } from "./fixture_steps.ts";
import { acknowledged, answerTo, askAll, assertPlays } from "./fixture_writers.ts";
import { scaled } from "../support/scale.ts";
import { inLanes, pause, signal } from "./killing.ts";

const KILLS = scaled(10, 400);
const SEED = Number(Deno.env.get("REPRISE_SEED") ?? 20261123);
/** Writers at the same time. */
const LANES = 2;
/** Runs that measure how long a writer writes. */
const MEASURED = scaled(1, 3);
/** Longer than a recorder takes from an answer to the exchange in `fixture.json`. */
const PUBLISHING_MS = 8;

/** Moment of a kill. */
interface Moment {
  /** Number of answers that the client has by then; 0 counts from the first file that is written. */
  readonly answers: number;
  readonly delayMs: number;
}

/** A started writer. */
interface Writing {
  readonly run: Started;
  /** Resolves at the end of the writer and of its client. */
  readonly over: Promise<unknown>;
  /** Resolves after `count` answers, or when all is over. */
  reached(answers: number): Promise<void>;
  /** Returns the time at which it was last seen to write. */
  lastWrite(): Promise<number>;
}

/** Starts the writer in a folder. */
function started(step: Step, place: Place, out: string): Writing {
  place.copyBase(out);
  const run = place.sandbox.start(step.args(place, out));
  let [answers, isOver] = [0, false];
  const asking = step.asked.length === 0
    ? Promise.resolve()
    : askAll(run, step.asked, { onAnswer: () => answers++ });
  const over = Promise.allSettled([asking, run.process.status]).then(() => isOver = true);
  const hasBegun = () => [out, ...readdirSync(out).map((name) => `${out}/${name}`)].some(isStaged);
  return {
    run,
    over,
    async reached(wanted) {
      while (!isOver && (wanted === 0 ? !hasBegun() : answers < wanted)) await pause(1);
    },
    async lastWrite() {
      let last = performance.now();
      for (; !isOver; await pause(1)) if (hasBegun()) last = performance.now();
      return last;
    },
  };
}

const isStaged = (path: string) => existsSync(`${path}/.recording`);

/** Returns how long a writer writes, in milliseconds, from its first file to its last. */
async function spanOf(step: Step, place: Place, out: string): Promise<number> {
  const { run, reached, lastWrite } = started(step, place, out);
  await reached(0);
  const since = performance.now();
  const span = await lastWrite() - since;
  const { code, stdout, stderr } = await run.ended();
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(stateIn(step, out), step.after);
  return span;
}

/** Chooses a moment while the writer writes; with `isNear` one shortly after an answer, in which it publishes. */
function momentOf(
  { asked }: Step,
  dice: Dice,
  { latest, isNear }: { readonly latest: number; readonly isNear: boolean },
): Moment {
  const part = dice.count(0, 1000) / 1000;
  if (!isNear || asked.length === 0) return { answers: 0, delayMs: part * latest };
  return { answers: dice.count(1, asked.length), delayMs: part * PUBLISHING_MS };
}

/** Folder of a writer, and what it holds. */
interface Left {
  readonly out: string;
  readonly state: State;
}

/** Folder of a killed writer. */
interface Killed extends Left {
  /** True if it was killed while it wrote. */
  readonly isInside: boolean;
}

async function kill(
  step: Step,
  place: Place,
  { out, answers, delayMs }: Moment & { readonly out: string },
): Promise<Killed> {
  const { run, over, reached } = started(step, place, out);
  await reached(answers);
  await pause(delayMs);
  signal(run, "SIGKILL");
  await over;
  const { stdout } = await run.ended();
  const state = stateIn(step, out);
  const said = acknowledged(stdout);
  for (const [test, inputs] of Object.entries(state)) {
    const [before = [], after = []] = [step.before[test], step.after[test]];
    const added = inputs.length - before.length;
    const isBetween = step.asked.length > 0 && added > 0 && isPrefix(inputs, after);
    assert.ok(
      isBetween || isSame(inputs, before) || isSame(inputs, after),
      `${test} holds neither the exchanges before nor those after: ${inputs}`,
    );
    const published = said.get(test === "" ? null : test) ?? 0;
    assert.ok(
      added >= published || step.asked.length === 0,
      `${test}: ${published} were published, ${added} are there`,
    );
  }
  return { out, isInside: fixturesIn(step, out).some(({ seen }) => seen?.isLeft), state };
}

const isSame = (a: Inputs, b: Inputs) => a.length === b.length && isPrefix(a, b);
const isPrefix = (a: Inputs, b: Inputs) => a.every((input, index) => b[index] === input);

function fixturesIn(step: Step, out: string): { readonly test: string; readonly seen: SeenFixture | null }[] {
  return Object.keys(step.before).map((test) => {
    const path = test === "" ? out : `${out}/${test}`;
    return { test, seen: existsSync(path) ? seenFixture(path) : null };
  });
}

/** Reads the fixtures of a folder, and checks their answers. */
function stateIn(step: Step, out: string): State {
  const state: Record<string, Inputs> = {};
  for (const { test, seen } of fixturesIn(step, out)) {
    const exchanges = seen?.exchanges ?? [];
    for (const { input, answer } of exchanges) assert.equal(answer, answerTo(input), input);
    state[test] = exchanges.map(({ input }) => input);
  }
  return state;
}

/** Lets the program read the fixtures of all folders, in one folder with a name for each. */
async function assertAllPlay(
  step: Step,
  place: Place,
  { name, folders }: { readonly name: string; readonly folders: readonly Left[] },
): Promise<void> {
  const all = `${place.sandbox.directory}/${name}`;
  const fixtures = new Map<string, Inputs>();
  for (const [index, { out, state }] of folders.entries()) {
    for (const { test, seen } of fixturesIn(step, out)) {
      if (seen === null) continue;
      const fixture = `kill-${index}${test === "" ? "" : `-${test}`}`;
      cpSync(test === "" ? out : `${out}/${test}`, `${all}/${fixture}`, { recursive: true });
      fixtures.set(fixture, state[test] ?? []);
    }
  }
  await assertPlays(place, all, fixtures);
}

for (const step of STEPS) {
  Deno.test(
    `${step.name}, killed at ${KILLS} random moments, leaves fixtures as before or after; they play, and the next ` +
      `writer continues (seed ${SEED})`,
    async () => {
      await using place = new Place();
      await step.prepare(place);
      const folder = (name: string | number) => `${place.sandbox.directory}/kill-${name}`;
      let latest = 0;
      for (let run = 0; run < MEASURED; run++) {
        latest = Math.max(latest, await spanOf(step, place, folder(`none-${run}`)));
      }
      const dice = new Dice(SEED);
      const moments = Array.from({ length: KILLS }, (_, index) => ({
        out: folder(index),
        ...momentOf(step, dice, { latest, isNear: index % 2 === 1 }),
      }));
      const killed = await inLanes(LANES, moments, (moment) => kill(step, place, moment));
      await assertAllPlay(step, place, { name: "killed", folders: killed });
      const resumed = await inLanes(LANES, killed, async ({ out, state }): Promise<Left> => {
        const next = await step.resume(place, out, state);
        assert.deepEqual(stateIn(step, out), next, out);
        assert.ok(fixturesIn(step, out).every(({ seen }) => seen?.isLeft === false), `${out} is not cleared`);
        return { out, state: next };
      });
      await assertAllPlay(step, place, { name: "resumed", folders: resumed });
      const inside = killed.filter(({ isInside }) => isInside).length;
      assert.ok(inside >= KILLS / 5, `${inside} of ${KILLS} were killed while they wrote`);
    },
  );
}

/** Damage that the oracle of this harness must notice, and what it says. */
const DAMAGE: readonly (readonly [says: RegExp, harm: (path: string) => void])[] = [
  [/0002-\w+\/body is torn or missing/, (path) => Deno.truncateSync(`${path}/${foldersIn(path)[1]}/body`, 9)],
  [
    /request\.json is torn or missing/,
    (path) => Deno.removeSync(`${path}/${foldersIn(path)[0]}/request.json`),
  ],
  [
    /not listed/,
    (path) => cpSync(`${path}/${foldersIn(path)[0]}`, `${path}/exchanges/0004`, { recursive: true }),
  ],
  [/without fixture\.json/, (path) => Deno.removeSync(`${path}/fixture.json`)],
];

Deno.test("the oracle sees the exchanges of a fixture, and notices any damage", async () => {
  await using place = new Place();
  const inputs = ["one", "two", "three"];
  await place.record(place.base, [], inputs.map((input) => ({ test: null, input })));
  assert.deepEqual(seenFixture(place.base)?.exchanges.map(({ input }) => input), inputs);
  for (const [index, [says, harm]] of DAMAGE.entries()) {
    const path = `${place.sandbox.directory}/${index}`;
    place.copyBase(path);
    harm(path);
    assert.throws(() => seenFixture(path), says);
  }
});

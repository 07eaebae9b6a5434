/**
 * Stops the compiled binary at random points of runs with commands: whatever the point, the run has an end on disk,
 * every call has one result, nothing that was started is left, and the next run completes.
 */
import assert from "node:assert/strict";
import {
  assertAnswered,
  eventsOf,
  mark,
  running,
  shellArgv,
  shellLine,
  statuses,
  write,
} from "../cli/changes.ts";
import { HELLO, Place } from "../cli/harness.ts";
import { ending } from "../support/reprise.ts";
import { answer, reasoning, type Script } from "../support/scripted_api/responses.ts";
import type { ScriptedItem } from "../support/scripted_api/responses_script.ts";
import { Dice } from "../support/dice.ts";
import { scaled } from "../support/scale.ts";
import { inLanes, pause, signal as send } from "./killing.ts";

const ignore = (Deno.env.get("REPRISE_BIN") ?? "") === "";

const EXIT_OF = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const SIGNALS = Object.keys(EXIT_OF) as (keyof typeof EXIT_OF)[];
const POINTS = scaled(30, 200);
/** Runs at the same time: most of a run is waiting. */
const PARALLEL = 6;
/** The latest point of most, in milliseconds from the first line of a run; every twentieth comes near its end. */
const LATEST_MS = 3000;

/** One point: which signal, when, and by what its processes are known. */
interface Point {
  readonly id: string;
  readonly signal: keyof typeof EXIT_OF;
  /** From the first line of the run, in milliseconds. */
  readonly delayMs: number;
  readonly word: string;
  /** Every tenth has a command that forks and ignores SIGTERM: it takes the whole grace to end. */
  readonly isStubborn: boolean;
}

/** The points, always the same. */
function points(): Point[] {
  const dice = new Dice(23_382);
  return Array.from({ length: POINTS }, (_, index) => ({
    id: `point-${index}`,
    signal: SIGNALS[index % SIGNALS.length] as keyof typeof EXIT_OF,
    delayMs: index % 20 === 7 ? LATEST_MS + dice.count(0, 2000) : dice.count(0, LATEST_MS),
    word: mark(),
    isStubborn: index % 10 === 3,
  }));
}

/** The commands of a run, by step. Each ends by itself; the long sleeps after it must not be left. */
function steps({ word, isStubborn }: Point): readonly (readonly ScriptedItem[])[] {
  const deaf = isStubborn ? "trap '' TERM INT HUP; " : "";
  return [
    [write("out.txt", "one"), shellLine(`${deaf}sleep ${word} & sleep 0.2; kill -9 $!`)],
    [
      shellArgv("sleep", `0.${word.slice(-1)}`),
      shellLine(`${deaf}sleep ${word} & sleep ${word} & sleep 0.3`),
    ],
    [shellLine("seq 20000"), write("out.txt", "two"), shellArgv("sleep", "0.1")],
  ];
}

/** Steps of commands for a run that was not stopped yet; an answer for any other run. */
function scriptFor(all: readonly Point[], stopped: ReadonlySet<string>): Script {
  const byId = new Map(all.map((point) => [point.id, steps(point)]));
  return ({ body, input }) => {
    // The cache key is the session's id.
    const id = String((body as { readonly prompt_cache_key?: string }).prompt_cache_key);
    const done = input.filter(({ type }) => type === "reasoning").length;
    const next = stopped.has(id) ? undefined : byId.get(id)?.[done];
    return next === undefined
      ? HELLO
      : answer([reasoning("Hm"), ...next], { delivery: { chunkBytes: 800, delayMs: 25 } });
  };
}

Deno.test(
  `a run with commands that is stopped at any of ${POINTS} points is closed and whole, and leaves no process`,
  { ignore },
  async () => {
    const all = points();
    const stopped = new Set<string>();
    await using place = new Place(scriptFor(all, stopped));
    const states = await inLanes(PARALLEL, all, (point) => stopAt(place, point, stopped));
    assert.deepEqual(place.server.refusals, []);
    const checked = await place.call(["fsck", "--all", "--json"]);
    assert.equal(checked.code, 0, checked.stdout);

    const interrupted = states.filter((state) => state === "interrupted").length;
    assert.ok(interrupted >= POINTS / 4, `stopped in a run: ${interrupted}`);
    const inCommand = all.filter(({ id }) => statuses(place, id).includes("interrupted"));
    assert.ok(inCommand.length >= POINTS / 10, `stopped in a command: ${inCommand.length}`);
    const before = all.filter(({ id }) => statuses(place, id).includes("not_run"));
    assert.ok(before.length >= Math.floor(POINTS / 40), `stopped before a command: ${before.length}`);
    assert.ok(inCommand.some(({ isStubborn }) => isStubborn), "one that ignores the signal was among them");
  },
);

/** Stops one run at its point, checks what is left of it, and resumes it. Returns its terminal state. */
async function stopAt(place: Place, point: Point, stopped: Set<string>): Promise<string> {
  const { id, signal, delayMs, word } = point;
  const run = place.start(["run", "--json", "--new", "-s", id, "--allow", "write,shell", "Go"]);
  await run.printed('"type":"session"');
  await pause(delayMs);
  send(run, signal);
  const called = await run.ended();
  stopped.add(id);
  assert.deepEqual(running(word), [], "a process is left");
  const { state, exit_code } = ending(called);
  assert.ok(state === "interrupted" || state === "completed", called.stdout + called.stderr);
  assert.equal(called.code, state === "completed" ? 0 : EXIT_OF[signal], called.stderr);
  assert.equal(exit_code, called.code);
  assert.deepEqual(eventsOf(place, "run_ended", id).map((each) => [each.state, each.exit_code]), [
    [state, called.code],
  ]);
  assertAnswered(place, id);

  const prompt = state === "completed" ? ["And now?"] : [];
  const next = await place.call(["run", "--json", "-s", id, ...prompt]);
  assert.equal(next.code, 0, next.stdout + next.stderr);
  assert.ok(!next.stdout.includes('"kind":"run_closed"'), "the stopped run had closed itself");
  assertAnswered(place, id);
  return state;
}

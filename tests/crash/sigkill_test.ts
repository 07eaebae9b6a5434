/**
 * Kills the compiled binary at random points of runs, in the middle of streams and tools: nothing that it said was
 * saved is lost, nothing is torn, and a new process brings the session to its answer.
 */
import assert from "node:assert/strict";
import { parseSessionId } from "../../src/domain/ids.ts";
import { fsckSession } from "../../src/store/check/fsck.ts";
import { readSession } from "../../src/store/read/session.ts";
import { assertAnswered, shellArgv, shellLine, write } from "../cli/changes.ts";
import { HELLO, Place } from "../cli/harness.ts";
import { Dice } from "../support/dice.ts";
import { testPorts } from "./sessions.ts";
import { ending } from "../support/reprise.ts";
import { answer, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { scaled } from "../support/scale.ts";
import { inLanes, pause, signal } from "./killing.ts";

const ignore = (Deno.env.get("REPRISE_BIN") ?? "") === "";
const KILLS = scaled(30, 1000);
/** Runs at the same time: most of a run is waiting. */
const PARALLEL = 5;
/** Limits of a point: a number of saved turns, then a wait that is longer than the longest step of a run. */
const MOST_TURNS = 6;
const LATEST_MS = 250;

/** The commands of a run, by step: each ends by itself, because no process is left to end it. */
const STEPS = [
  [write("out.txt", "one"), shellLine("sleep 0.15; seq 20000")],
  [shellArgv("sleep", "0.1"), write("out.txt", "two")],
];

/** Slow answers with commands for a run that was not killed yet, a quick one for every other. */
function scriptFor(killed: ReadonlySet<string>): Script {
  return ({ body, input }) => {
    // The cache key is the session's id.
    const id = String((body as { readonly prompt_cache_key?: string }).prompt_cache_key);
    const done = input.filter(({ type }) => type === "reasoning").length;
    const next = killed.has(id) ? undefined : STEPS[done];
    if (next === undefined) return HELLO;
    return answer([reasoning("Hm"), ...next], { delivery: { chunkBytes: 700, delayMs: 20 } });
  };
}

/** The turns that a run said were saved, by number. A line that the kill cut short said nothing. */
function savedIn(stdout: string): [turn: number, sum: string][] {
  return [...stdout.matchAll(/^\{"type":"turn\.saved","turn":(\d+),.*?"sum":"([0-9a-f]{64})"\}\n/gm)]
    .map(([, turn, sum]) => [Number(turn), String(sum)]);
}

/** Checks a session's files: nothing torn, no gap, and every turn there that was said to be saved. */
async function assertWhole(place: Place, id: string, saved: readonly (readonly [number, string])[]) {
  const home = { path: place.sandbox.home, sessions: `${place.sandbox.home}/sessions` };
  const { findings } = await fsckSession(testPorts(), home, parseSessionId(id));
  assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
  const { turns } = readSession(testPorts(), home, parseSessionId(id));
  for (const [turn, sum] of saved) assert.equal(turns[turn - 1]?.sum, sum, `turn ${turn} was acknowledged`);
  return turns.length;
}

/** A random point of a run. */
interface KillPoint {
  /** The session's id. */
  readonly id: string;
  /** Turns that the run says it has saved. */
  readonly saves: number;
  /** Milliseconds after that. */
  readonly delayMs: number;
}

/** Kills one run at a point, and resumes it. Returns the number of its turns at the kill, 0 if it had ended. */
async function killAt(place: Place, { id, saves, delayMs }: KillPoint, killed: Set<string>): Promise<number> {
  const run = place.start(["run", "--json", "--new", "-s", id, "--allow", "write,shell", "Go"]);
  await run.printed('"type":"turn.saved"', saves);
  await pause(delayMs);
  signal(run, "SIGKILL");
  const { stdout } = await run.ended();
  killed.add(id);
  const saved = savedIn(stdout);
  assert.ok(saved.length > 0);
  const turns = await assertWhole(place, id, saved);
  const wasOver = stdout.includes('"type":"run.ended"');

  const next = await place.call(["run", "--json", "-s", id, ...(wasOver ? ["And now?"] : [])]);
  // Killed between the end on disk and the line that says so: there is nothing to continue.
  const endedUnsaid = next.code !== 0 && next.stdout.includes("nothing_to_continue");
  const last = endedUnsaid ? await place.call(["run", "--json", "-s", id, "And now?"]) : next;
  assert.equal(last.code, 0, last.stdout + last.stderr);
  const ended = ending(last);
  assert.deepEqual([ended.state, ended.text], ["completed", "Hello."]);
  await assertWhole(place, id, [...saved, ...savedIn(last.stdout)]);
  assertAnswered(place, id);
  return wasOver ? 0 : turns;
}

Deno.test({
  name:
    `a run that is killed at any of ${KILLS} random points loses no acknowledged turn and comes to its answer`,
  ignore,
  fn: async () => {
    const killed = new Set<string>();
    await using place = new Place(scriptFor(killed));
    const dice = new Dice(20261122);
    const points = Array.from({ length: KILLS }, (_, index): KillPoint => ({
      id: `kill-${index}`,
      saves: dice.count(1, MOST_TURNS),
      delayMs: dice.count(0, LATEST_MS),
    }));
    const turns = await inLanes(PARALLEL, points, (point) => killAt(place, point, killed));
    assert.deepEqual(place.server.refusals, []);
    const inRun = turns.filter((count) => count > 0);
    assert.ok(inRun.length >= KILLS / 2, `${inRun.length} were killed inside a run`);
    assert.ok(new Set(inRun).size >= 4, `killed with ${[...new Set(inRun)]} turns on disk`);
  },
});

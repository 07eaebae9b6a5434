import assert from "node:assert/strict";
import { fsckSession } from "../../src/store/check/fsck.ts";
import { openHome } from "../../src/store/home.ts";
import { readSession } from "../../src/store/read/session.ts";
import { commandOf } from "./programs.ts";
import { ID, testPorts, writeRuns } from "./sessions.ts";
import { withDirectory } from "./trace.ts";
import { scaled } from "../support/scale.ts";

const RACES = scaled(60, 200);
const TAKEOVERS = scaled(8, 40);
/** Far more than a refusal or a takeover takes: the promise is that no process waits. */
const SOON_MS = 1000;

/** A racer that gets one command at a time. */
class Racer {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;
  #text = "";

  static async start(home: string, naive = ""): Promise<Racer> {
    const [deno, ...args] = await commandOf("racer") as [string, ...string[]];
    return new Racer(
      new Deno.Command(deno, { args: [...args, home, naive], stdin: "piped", stdout: "piped" }).spawn(),
    );
  }

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a command, and returns the words of the answer. */
  async report(command: "take" | "append" | "drop"): Promise<string[]> {
    await this.#input.write(new TextEncoder().encode(`${command}\n`));
    while (!this.#text.includes("\n")) {
      const { done, value } = await this.#output.read();
      assert.ok(!done, "the racer ended");
      this.#text += value;
    }
    const [line = "", ...more] = this.#text.split("\n");
    this.#text = more.join("\n");
    return line.split(" ");
  }

  async kill(): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It was killed before.
    }
    await this.#child.status;
    await this.#input.abort().catch(() => {});
    await this.#output.cancel().catch(() => {});
  }
}

async function withRacers(
  count: number,
  naive: string,
  body: (racers: Racer[], home: string) => Promise<void>,
): Promise<void> {
  await withDirectory(async (root) => {
    const home = `${root}/home`;
    writeRuns(home, 1);
    const racers = await Promise.all(Array.from({ length: count }, () => Racer.start(home, naive)));
    try {
      // Started, and on a free lock.
      for (const racer of racers) {
        for (const command of ["take", "drop"] as const) await racer.report(command);
      }
      await body(racers, home);
    } finally {
      for (const racer of racers) await racer.kill();
    }
  });
}

/** Returns the faults in races of all racers for the lock: no winner or several, an error without the owner. */
async function wrongRaces(racers: readonly Racer[], races: number): Promise<string[]> {
  const wrong: string[] = [];
  for (let race = 0; race < races; race++) {
    const answers = await Promise.all(racers.map((racer) => racer.report("take")));
    const winners = racers.filter((_, index) => answers[index]?.[0] === "held");
    if (winners.length !== 1) wrong.push(`race ${race}: ${winners.length} winners`);
    for (const [word, code, pid, ms] of answers) {
      if (word === "held") continue;
      if (code !== "session_locked") wrong.push(`race ${race}: refused with ${code}`);
      if (Number(pid) !== winners[0]?.pid) wrong.push(`race ${race}: named the owner ${pid}`);
      if (Number(ms) > SOON_MS) wrong.push(`race ${race}: refused after ${ms} ms`);
    }
    await Promise.all(racers.map((racer) => racer.report("drop")));
  }
  return wrong;
}

/** Returns the faults after the holder is killed: the next racer must get the lock at once. */
async function wrongTakeover(home: string, naive: string, next: Racer): Promise<string[]> {
  const holder = await Racer.start(home, naive);
  assert.equal((await holder.report("take"))[0], "held");
  if (naive === "") await holder.report("append");
  await holder.kill();
  const [word, ...rest] = await next.report("take");
  if (word !== "held") return [`the lock of a killed process was ${word}: ${rest}`];
  const wrong = Number(rest[0]) > SOON_MS ? [`taken over after ${rest[0]} ms`] : [];
  if (naive === "") await next.report("append");
  await next.report("drop");
  return wrong;
}

Deno.test(`of 4 processes that race for a lock ${RACES} times one wins, and the errors of the others name it`, () =>
  withRacers(4, "", async (racers) => {
    assert.deepEqual(await wrongRaces(racers, RACES), []);
  }));

Deno.test(`after kill -9 of its holder, ${TAKEOVERS} times, the next process has the lock at once`, () =>
  withRacers(1, "", async ([next], home) => {
    for (let count = 0; count < TAKEOVERS; count++) {
      assert.deepEqual(await wrongTakeover(home, "", next as Racer), []);
    }
    const { turns } = readSession(testPorts(), openHome(testPorts(), home), ID);
    assert.equal(turns.length, 5 + 2 * TAKEOVERS);
  }));

Deno.test("with the lock file deleted underneath, two holders still write one history: the later is refused", () =>
  withRacers(2, "", async ([first, second], path) => {
    const [one, other] = [first as Racer, second as Racer];
    for (let round = 0; round < 5; round++) {
      assert.equal((await one.report("take"))[0], "held");
      Deno.removeSync(`${path}/sessions/${ID}/lock`);
      assert.equal((await other.report("take"))[0], "held");
      assert.equal((await other.report("append"))[0], "saved");
      assert.deepEqual(await one.report("append"), ["refused", "session_diverged"]);
      assert.deepEqual(await one.report("append"), ["refused", "session_diverged"], "it has stopped");
      assert.equal((await other.report("append"))[0], "saved");
      for (const racer of [one, other]) await racer.report("drop");
    }
    const home = openHome(testPorts(), path);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 5 + 10);
    const { findings } = await fsckSession(testPorts(), home, ID);
    assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
    // Identical late turns of one round have one name; what came too late is kept.
    const kept = [...Deno.readDirSync(`${path}/sessions/${ID}/quarantine`)];
    assert.ok(kept.length >= 5, `${kept.length} kept`);
  }));

Deno.test("the same races fail a lock that is a file's existence", () =>
  withRacers(4, "naive", async (racers, home) => {
    const wrong = (await wrongRaces(racers, 5)).join("\n");
    assert.match(wrong, /[2-4] winners/);
    assert.match(
      wrong + await wrongTakeover(home, "naive", racers[0] as Racer),
      /of a killed process was refused/,
    );
  }));

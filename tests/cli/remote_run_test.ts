/** Runs with a remote that does not answer, that has another history, or that comes back. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { ending, events } from "../support/reprise.ts";
import { S3Server } from "../support/s3_server.ts";
import { HELLO, Place } from "./harness.ts";

/** A model, a store, and the calls of homes by name. */
class RemotePlace implements AsyncDisposable {
  readonly server = new S3Server();
  /** Called at the next request to the model. */
  onRequest: (() => Promise<void>) | null = null;
  readonly #place = new Place(async () => {
    const called = this.onRequest;
    this.onRequest = null;
    await called?.();
    return HELLO;
  });

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.#place[Symbol.asyncDispose]();
  }

  async call(home: string, ...args: readonly string[]) {
    return await this.callWith({}, home, ...args);
  }

  async callWith(more: Readonly<Record<string, string>>, home: string, ...args: readonly string[]) {
    const env = { ...this.server.env, ...more };
    return await this.#place.call([...args, "--home", `${this.#place.sandbox.directory}/${home}`], { env });
  }

  /** Starts a run that is killed at its request to the model, and waits for its end. */
  async kill(home: string, ...args: readonly string[]): Promise<void> {
    const { env } = this.server;
    const started = this.#place.start([...args, "--home", `${this.#place.sandbox.directory}/${home}`], {
      env,
    });
    this.onRequest = async () => {
      started.process.kill("SIGKILL");
      await started.ended();
    };
    await started.ended();
  }

  /** Makes all objects this old. */
  grow(minutes: number): void {
    for (const key of this.server.objects.keys()) this.server.ages.set(key, minutes * 60_000);
  }

  async ok(home: string, ...args: readonly string[]) {
    const called = await this.call(home, ...args);
    assert.equal(called.code, 0, called.stdout + called.stderr);
    return called;
  }

  names(home: string, folder: string): string[] {
    const directory = `${this.#place.sandbox.directory}/${home}/sessions/s/${folder}`;
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  }
}

const FIRST = ["run", "--json", "--new", "-s", "s", "One"];
const NEXT = ["run", "--json", "-s", "s"];

test.long("without an answer in the time of --timeout a turn waits; the same home puts it, or learns that it lost its number", async () => {
  await using place = new RemotePlace();
  await place.ok("a", ...FIRST);
  const waits = async (turn: string) => {
    place.server.isMute = (_, key) => key.endsWith(`turns/${turn}.json`);
    const called = await place.call("a", ...NEXT, "--timeout", "5", "Two");
    assert.deepEqual([called.code, ending(called).state], [10, "failed"], called.stdout);
    assert.match(called.stdout, /"code":"remote_unreachable".*within 5 seconds/);
    assert.doesNotMatch(called.stdout, new RegExp(`"type":"turn.saved","turn":${Number(turn)}`));
    assert.deepEqual(place.names("a", "pending"), [`${turn}.json`]);
    place.server.isMute = () => false;
  };
  await waits("000005");
  assert.equal((await place.ok("a", "sync", "s")).stdout, "s: 1 turn put\n");
  await place.ok("a", ...NEXT, "Three");
  assert.deepEqual([place.names("a", "pending"), place.names("a", "turns").length], [[], 9]);
  await place.ok("a", "fsck", "s");
  await waits("000011");
  await place.ok("b", ...NEXT, "--take-over", "Other");
  const called = await place.ok("a", ...NEXT, "Four");
  const notice = events(called).find((event) => event.type === "notice" && event.kind === "turn_set_aside");
  assert.match(JSON.stringify(notice), /"turn":11,.*it is kept in quarantine\/000011\.json\.div/);
  assert.match(place.names("a", "quarantine").join(), /^000011\.json\.diverged-/);
});

test("a run that another home closed by its age ends with 5, and no acknowledged turn is lost", async () => {
  await using place = new RemotePlace();
  await place.ok("a", ...FIRST);
  place.onRequest = async () => {
    place.grow(14);
    assert.equal((await place.call("b", ...NEXT, "Two of B")).code, 5);
    place.grow(16);
    await place.ok("b", ...NEXT, "Two of B");
  };
  const late = await place.call("a", ...NEXT, "Two of A");
  assert.equal(late.code, 5, late.stdout);
  assert.deepEqual([ending(late).state, ending(late).exit_code], ["diverged", 5]);
  const saved = events(late).flatMap((event) => event.type === "turn.saved" ? [event] : []);
  assert.deepEqual(saved.map(({ turn, remote }) => [turn, remote]), [[4, "stored"]]);
  assert.match(place.names("a", "quarantine").join(), /^000005\.json\.diverged-/);
  await place.ok("a", ...NEXT, "Three");
  await place.ok("b", "sync", "s");
  for (const home of ["a", "b"]) {
    const { turns } = JSON.parse((await place.ok(home, "show", "s", "--turns", "--json")).stdout);
    assert.equal(turns[3].sum, saved[0]?.sum);
    await place.ok(home, "fsck", "s");
  }
});

test.process("a killed run is continued by its own home at once, and by another one only with --take-over", async () => {
  await using place = new RemotePlace();
  await place.kill("a", ...FIRST);
  assert.equal((await place.call("b", ...NEXT, "Two")).code, 5);
  assert.equal((await place.callWith({ OPENAI_API_KEY: "" }, "a", ...NEXT, "Two")).code, 2);
  await place.ok("a", ...NEXT, "Two");
});

test.long("a home that fetched a turn of another one's open run does not take that run for its own", async () => {
  await using place = new RemotePlace();
  await place.ok("a", ...FIRST);
  place.onRequest = async () => {
    // The second try finds the turn of the open run here.
    for (const prompt of ["Mine", "Mine again"]) {
      assert.equal((await place.call("a", ...NEXT, prompt)).code, 5, prompt);
    }
  };
  const theirs = await place.ok("b", ...NEXT, "Theirs");
  assert.equal(ending(theirs).state, "completed");
  await place.ok("a", ...NEXT, "Mine at last");
});

test.process("a repair that takes the newest turn from the remote does not end its open run", async () => {
  await using place = new RemotePlace();
  await place.ok("a", ...FIRST);
  await place.kill("b", ...NEXT, "Two of B");
  assert.equal((await place.call("a", "repair", "s")).code, 5);
  assert.equal(place.names("a", "turns").length, 4);
  assert.equal((await place.call("a", ...NEXT, "Two of A")).code, 5);
});

test.long("doctor --live asks the remote, and a session that is neither here nor there is said to be at neither place", async () => {
  await using place = new RemotePlace();
  const live = async (env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout } = await place.callWith(env, "a", "doctor", "--json", "--live");
    return [code, JSON.parse(stdout).checks.find(({ name }: Json) => name === "remote live")?.detail];
  };
  assert.deepEqual(await live(), [0, "s3://sessions answered: it is empty"]);
  const { code, stderr } = await place.call("a", "run", "-s", "nothing", "Go");
  assert.equal(code, 2);
  assert.match(stderr, /none of 0 sessions .*, and s3:\/\/sessions has none with that id\n.*ls --remote/);
  assert.deepEqual(await live({ REPRISE_REMOTE: "" }), [0, "no remote to ask"]);
  const elsewhere = `${place.server.env.AWS_ENDPOINT_URL_S3}/nowhere`;
  assert.equal((await live({ AWS_ENDPOINT_URL_S3: elsewhere }))[0], 2);
});

test("with a remote too a prefix names a session that is here; one that is only there needs its whole id", async () => {
  await using place = new RemotePlace();
  await place.ok("a", "run", "--json", "--new", "-s", "shared", "One");
  assert.match((await place.ok("a", "run", "--json", "-s", "shar", "Two")).stdout, /"id":"shared"/);
  assert.equal((await place.call("b", "run", "--json", "-s", "shar", "Three")).code, 2);
  await place.ok("b", "run", "--json", "-s", "shared", "Three");
});

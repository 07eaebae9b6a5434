/** Writers of fixtures that are killed before any of their operations, or whose disk fails there. */
import assert from "node:assert/strict";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { bytesBelow, type Json, textsBelow } from "../../support/files.ts";
import { type HereCall, HereRun } from "../../support/in_process.ts";
import { spiedDisk, systemError } from "../../support/spied_disk.ts";
import { test } from "../../support/test.ts";
import { seenFixture } from "../../crash/fixture_oracle.ts";
import { RecordingHome, withHome } from "./home.ts";
import { ended, fixtureOf, useOf, writeEvents } from "./prune_lists.ts";
import { exchangesOf } from "./recording_files.ts";

type Disk = NonNullable<HereCall["disk"]>;
const WRITES = new Set(["createExclusive", "link", "makeDirectory", "rename", "setMode", "unlink"]);

/** A disk on which the first `count` operations that write succeed. */
class FailingDisk {
  /** Operations that write so far. */
  writes = 0;
  /** Called when the first one fails. */
  onFailure = () => {};
  readonly #count: number;
  readonly #fails: ReadonlySet<string>;
  readonly #error: () => Error;

  constructor(count: number, { fails = WRITES, error = () => new Error("killed") } = {}) {
    this.#count = count;
    this.#fails = fails;
    this.#error = error;
  }

  get failed(): boolean {
    return this.writes > this.#count;
  }

  readonly disk = spiedDisk(({ name }) => {
    if (name === "write" || this.#fails.has(name)) this.#write();
    // A write may stop in the middle.
    return name === "write" ? 0.5 : undefined;
  });

  #write(): void {
    if (++this.writes === this.#count + 1) this.onFailure();
    if (this.failed) throw this.#error();
  }
}

const callOn = (disk: Disk, home: RecordingHome, ...args: readonly string[]) =>
  new HereRun({
    ...{
      args: ["fixture", ...args],
      cwd: home.directory,
      env: home.environment(),
      stdin: new Uint8Array(0),
      disk,
    },
  }).ended;

/** Inputs of the exchanges that readers see; `null` without a fixture. */
const inputsSeen = (path: string) => seenFixture(path)?.exchanges.map(({ input }) => input).join("") ?? null;

const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();

/** Calls `act` with the number of operations that succeed, until all do; returns what it returned. */
async function atEach<T>(
  act: (home: RecordingHome, disk: FailingDisk) => Promise<T>,
  options = {},
): Promise<T[]> {
  const seen: T[] = [];
  for (let count = 0;; count++) {
    await using home = new RecordingHome();
    const disk = new FailingDisk(count, options);
    seen.push(await act(home, disk));
    if (!disk.failed) return seen;
  }
}

/** Asserts that states change once, from the first to the second. */
function requireOneStep<T>(states: readonly T[], before: T, after: T): void {
  const step = states.indexOf(after);
  assert.ok(step > 0 && states.length > step + 3, states.join());
  assert.deepEqual(states, states.map((_, index) => index < step ? before : after));
}

const OK = answering("200 OK\r\ncontent-type: application/json", '{"ok":1}');

/** Verbs that write to the fixture next, and finish the work of a killed one. */
const NEXT: readonly (readonly string[])[] = [["seal", "s/kept"], ["redact", "s/kept"]];

test.long("a pruner that is killed at any operation leaves the fixture before or after it, and the next writer finishes", async () => {
  const states = await atEach(async (home, disk) => {
    const path = fixtureOf(`${home.directory}/s/kept`, ["a", "b", "c"]);
    writeEvents(`${home.directory}/list`, ended([useOf(path, 2, 3)]));
    await callOn(disk.disk, home, "prune", "s", "--events", "list");
    const seen = inputsSeen(path);
    const listed = await home.json(["ls", "s"]);
    assert.deepEqual([listed.fixtures[0].exchanges, listed.fixtures[0].problem], [seen?.length, null]);
    assert.deepEqual((await home.findings("s")).filter((line) => line.startsWith("error")), []);
    // One that is killed again, and one that is not.
    const next = NEXT[disk.writes % NEXT.length] ?? [];
    await callOn(new FailingDisk(disk.writes * 7 % 5).disk, home, ...next);
    assert.equal(inputsSeen(path), seen);
    await home.json(next);
    assert.deepEqual([names(path), exchangesOf(path).length], [["exchanges", "fixture.json"], seen?.length]);
    return seen;
  });
  requireOneStep<string | null>(states, "abc", "bc");
});

test.long("a removal of a whole fixture that is killed leaves it or nothing to play, and the next prune finishes", async () => {
  const states = await atEach(async (home, disk) => {
    const kept = fixtureOf(`${home.directory}/s/kept`, ["b", "c"]);
    const gone = fixtureOf(`${home.directory}/s/gone`, ["a", "b"]);
    const sealed = Deno.readTextFileSync(`${kept}/fixture.json`);
    writeEvents(`${home.directory}/list`, ended([useOf(kept, 1, 2)], { unopened: ["gone"] }));
    const args = ["prune", "s", "--events", "list", "--unopened"];
    await callOn(disk.disk, home, ...args);
    const seen = (await home.json(["ls", "s"])).fixtures.length === 2 ? inputsSeen(gone) : null;
    await home.json(args);
    // Only an empty folder may stay: version control does not see it.
    const left = names(`${home.directory}/s`).filter((name) =>
      names(`${home.directory}/s/${name}`).length > 0
    );
    assert.deepEqual(left, ["kept"]);
    assert.equal(Deno.readTextFileSync(`${kept}/fixture.json`), sealed);
    return seen;
  });
  requireOneStep<string | null>(states, "ab", null);
});

test.long("a redaction that is killed leaves a fixture that is whole or refused, never one that is half trusted", async () => {
  const states = await atEach(async (home, disk) => {
    const path = fixtureOf(`${home.directory}/f`, ["sk-proj-aB3dE5gH7jK9mN1p", "b"]);
    await callOn(disk.disk, home, "redact", "f");
    const shown = await home.verb(["show", "f", "--json"]);
    const isClean = ![...textsBelow(path).values()].join("").includes("sk-proj");
    if (shown.code !== 0) assert.match(shown.stdout, /checksum differs from fixture\.json/);
    else assert.equal(shown.stdout.includes("sk-proj"), !isClean);
    await home.json(["seal", "f"]);
    await home.json(["redact", "f"]);
    assert.ok(![...textsBelow(path).values()].join("").includes("sk-proj"));
    return `${shown.code} ${isClean}`;
  });
  assert.deepEqual([states[0], states.at(-1)], ["0 false", "0 true"]);
});

test.long("an import that fails on the way leaves no files, wherever it fails", async () => {
  const exchanges = ["a", "b"].map((name) => ({
    request: {
      method: "POST",
      url: `https://${name}.example/v1/responses`,
      headers: {},
      body: { type: "text", value: "{}" },
    },
    response: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: { type: "json", value: {} },
    },
  }));
  const options = {
    fails: new Set(["createExclusive", "makeDirectory", "rename"]),
    error: () => new Deno.errors.Interrupted("no more"),
  };
  const states = await atEach(async (home, disk) => {
    home.file("a.json", JSON.stringify({ exchanges }));
    Deno.mkdirSync(`${home.directory}/empty`);
    const to = disk.writes % 2 === 0 ? "some/new/folder" : "empty";
    await callOn(disk.disk, home, "import", "a.json", to);
    if (!disk.failed) return "imported";
    assert.deepEqual([...bytesBelow(home.directory).keys()].filter((name) => name !== "a.json"), []);
    assert.deepEqual(names(home.directory), ["a.json", "empty", "work"]);
    return "nothing";
  }, options);
  assert.ok(states.length > 30, `${states.length}`);
});

test.long("a recorder that is killed at any operation leaves a fixture of what it published", async () => {
  await using upstream = new RawUpstream(OK);
  const states = await atEach(async (home, disk) => {
    try {
      await using recorder = await home.record(upstream.origin, { disk: disk.disk });
      const published = () => recorder.exchanges.filter(({ state }) => state === "published").length;
      // A dead process reports nothing more.
      let reported: number | null = null;
      disk.onFailure = () => reported = published();
      for (const input of ["a", "b"]) {
        assert.equal((await recorder.ask("/v1/responses", { model: "m", input })).text, '{"ok":1}');
      }
      await recorder.reported(2);
      await recorder.end();
      const seen = inputsSeen(recorder.out) ?? "";
      assert.ok(seen.length >= (reported ?? published()) && "ab".startsWith(seen), `${reported}: ${seen}`);
      if (seen === "") return 0;
      await home.json(["seal", "recorded"]);
      return exchangesOf(recorder.out).length;
    } catch (error) {
      assert.match(String(error), /It is not ready/);
      return 0;
    }
  });
  assert.deepEqual([...new Set(states)], [0, 1, 2]);
});

withHome("a full disk ends the recording, not the traffic, and is reported at the end", async (home) => {
  await using upstream = new RawUpstream(OK);
  let full = false;
  const noSpace = () => Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  await using recorder = await home.record(upstream.origin, {
    disk: (files) => ({
      ...files,
      createExclusive(path, mode) {
        if (full) throw noSpace();
        return files.createExclusive(path, mode);
      },
    }),
  });
  await recorder.ask("/v1/responses", { model: "m", input: "a" });
  await recorder.reported(1);
  full = true;
  assert.equal((await recorder.ask("/v1/responses", { model: "m", input: "b" })).text, '{"ok":1}');
  const { code, published, notes } = await recorder.end();
  assert.deepEqual([code, published], [14, 1], notes);
  assert.equal(exchangesOf(recorder.out).length, 1);
});

/** A disk that refuses to write to the folders of this name, and below. */
const denied = (code: string, folder: string) =>
  spiedDisk(({ name, path, to = path }) => {
    if (WRITES.has(name) && `${to}/`.includes(`/${folder}/`)) throw systemError(code);
  });

withHome("prune in a folder that may not be written is exit code 14, and changes nothing", async (home) => {
  const path = fixtureOf(`${home.directory}/s/kept`, ["a", "b"]);
  writeEvents(`${home.directory}/list`, ended([useOf(path, 1)]));
  const before = bytesBelow(home.directory);
  const args = ["prune", "s", "--events", "list", "--json"];
  const { code, stdout } = await callOn(denied("EACCES", "kept"), home, ...args);
  const error = JSON.parse(stdout);
  assert.deepEqual([code, error.code], [14, "storage_denied"]);
  assert.match(error.message, /Cannot prune the fixtures: permission denied/);
  assert.deepEqual(bytesBelow(home.directory), before);
});

withHome(
  "record on a read-only disk is exit code 14 before anything listens, also with --append",
  async (home) => {
    await using upstream = new RawUpstream(OK);
    const path = fixtureOf(`${home.directory}/recorded`, ["a"]);
    const before = bytesBelow(path);
    for (const [out, ...flags] of [["new"], ["recorded", "--append"]] as const) {
      const starting = home.record(upstream.origin, { out, flags, disk: denied("EROFS", out) });
      await assert.rejects(starting, /"code":14,.*storage_denied.*: the file system is read-only/);
    }
    assert.deepEqual(bytesBelow(path), before);
    assert.throws(() => Deno.statSync(`${home.directory}/new`), Deno.errors.NotFound);
  },
);

test.long("a fixture that is pruned at any moment while it is read is read as before or as after", async () => {
  const states: string[] = [];
  for (let at = 1, happened = true; happened; at++) {
    await using home = new RecordingHome();
    const path = fixtureOf(`${home.directory}/f`, ["a", "b", "c"]);
    const pruned = fixtureOf(`${home.directory}/pruned`, ["a", "b", "c"]);
    writeEvents(`${home.directory}/list`, ended([useOf(pruned, 2, 3)]));
    await home.json(["prune", "pruned", "--events", "list"]);
    let operations = 0;
    const disk: Disk = (files) =>
      Object.fromEntries(
        Object.entries(files).map(([name, operation]) => [name, (...args: Json[]) => {
          if (++operations === at) {
            Deno.renameSync(`${pruned}/fixture.json`, `${path}/fixture.json`);
            Deno.removeSync(`${path}/exchanges/0001`, { recursive: true });
          }
          return (operation as Json)(...args);
        }]),
      ) as Json;
    const { code, stdout, stderr } = await callOn(disk, home, "show", "f", "--json");
    assert.equal(code, 0, stderr);
    states.push(`${JSON.parse(stdout).exchanges.length}`);
    happened = operations >= at;
  }
  const last = states.lastIndexOf("2");
  assert.ok(last > 10 && states.every((state, index) => state === "2" || index > last), states.join(" "));
});

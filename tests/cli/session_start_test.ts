/** `start/` of a session test: what the linter says about it, and that no test is played with another one. */
import assert from "node:assert/strict";
import { lintStart } from "../../src/cli/fixture/lint.ts";
import { playTest } from "../../src/cli/test/runner.ts";
import { requireSealedStart } from "../../src/cli/test/scratch.ts";
import { sha256Hex } from "../../src/domain/hash.ts";
import { sealFixture, writeNewFile } from "../../src/fixture/seal.ts";
import { livePorts } from "../../src/cli/live_ports.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import {
  ID,
  INSTRUCTIONS,
  newSession,
  testPorts,
  testProcess,
  TOOLS,
  withHome,
} from "../unit/store/support.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { Sandbox } from "../support/reprise.ts";
import { HELLO, Place } from "./harness.ts";
import { bytesBelow } from "../support/files.ts";

const BLOB = `start/blobs/${sha256Hex(INSTRUCTIONS)}`;
const MANIFEST = "start/manifest.json";
const TURN = "start/turns/000003.json";

/** A sealed test at `path` that continues a session of five turns, with the modes that git gives its files. */
async function writeTest(path: string): Promise<string> {
  await withHome(async (home) => {
    await newSession(testPorts(), home);
    const session = `${home.sessions}/${ID}`;
    for (const [name, bytes] of bytesBelow(session, "lock")) {
      writeNewFile(denoFiles, `${path}/start/${name}`, bytes);
      Deno.chmodSync(`${path}/start/${name}`, 0o644);
    }
  });
  for (const name of ["", "/turns", "/blobs"]) Deno.chmodSync(`${path}/start${name}`, 0o755);
  const steps = [{ args: ["run", "-s", ID, "-m", "gpt-5.6", "Hi"], fixture: ".", exit: 0 }];
  writeNewFile(
    denoFiles,
    `${path}/session.json`,
    JSON.stringify({ format: "reprise.session_test/1", steps }),
  );
  writeFixture(path, [{ body: "" }]);
  sealFixture(denoFiles, path);
  return path;
}

async function withTest(body: (path: string) => Promise<void> | void): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "reprise-start-" });
  try {
    await body(await writeTest(`${root}/test`));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

type Harm = (path: string) => void;

const remove = (name: string): Harm => (path) => Deno.removeSync(`${path}/${name}`);
const put = (name: string, text: string): Harm => (path) => Deno.writeTextFileSync(`${path}/${name}`, text);
const flip = (name: string): Harm => (path) => {
  const bytes = Deno.readFileSync(`${path}/${name}`);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  Deno.writeFileSync(`${path}/${name}`, bytes);
};

/** Faults that a seal over them hides, and `severity path: message` of what is found. */
const FAULTS: Readonly<Record<string, readonly [Harm, ...RegExp[]]>> = {
  "a missing turn": [remove(TURN), /^error start\/turns\/000003\.json: it is missing, but turn 4 exists$/],
  "the last turn gone": [
    remove("start/turns/000005.json"),
    /^error start\/manifest\.json: it names turn 5 as the newest/,
  ],
  "a turn with another sum": [flip(TURN), /^error start\/turns\/000003\.json: it .*/],
  "a turn instead of another": [
    (path) => Deno.copyFileSync(`${path}/${TURN}`, `${path}/start/turns/000005.json`),
    ...Array(5).fill(/^error start\/turns\/000005\.json: it /),
  ],
  "a missing blob": [
    remove(BLOB),
    /^error start\/blobs\/[0-9a-f]{64}: it is missing, but pins\.instructions of turn 1 names it$/,
  ],
  "a blob with other bytes": [put(BLOB, "Be careless"), /^error start\/blobs\/[0-9a-f]{64}: it .*/],
  "a manifest of nothing": [
    put(MANIFEST, "{}"),
    /^error start\/manifest\.json: Cannot read .*: it does not name a session$/,
  ],
  "no manifest": [
    remove(MANIFEST),
    /^error start\/manifest\.json: Cannot read .*: it does not name a session$/,
  ],
  "a manifest that is rebuilt": [
    put(MANIFEST, JSON.stringify({ session: ID })),
    /^warning start\/manifest\.json: it does not fit its checksum; it is rebuilt from the turns$/,
  ],
  "a run that was stopped between calls and results, which is no fault": [
    (path) => {
      for (const turn of [3, 4, 5]) remove(`start/turns/00000${turn}.json`)(path);
      put(MANIFEST, JSON.stringify({ session: ID }))(path);
    },
    /^warning start\/manifest\.json: it does not fit its checksum/,
  ],
  "a file in its place": [
    (path) => {
      Deno.removeSync(`${path}/start`, { recursive: true });
      Deno.writeTextFileSync(`${path}/start`, "");
    },
    /^error start: it is a file$/,
  ],
};

Deno.test("lint reports a start/ that no run could continue, also if its sums fit", async () => {
  for (const [name, [harm, ...patterns]] of Object.entries(FAULTS)) {
    await withTest(async (path) => {
      harm(path);
      sealFixture(denoFiles, path);
      const found = (await lintStart(testPorts(), path)).map(({ severity, code, path, message }) => {
        assert.equal(code, "bad_start");
        return `${severity} ${path}: ${message}`;
      });
      assert.equal(found.length, patterns.length, `${name}: ${found.join("\n")}`);
      for (const [index, pattern] of patterns.entries()) assert.match(found[index] ?? "", pattern, name);
    });
  }
});

Deno.test("lint finds nothing in a start/ as git gives it to any user, or where there is none", async () => {
  await withTest(async (path) => {
    const another = testProcess({ user: (Deno.uid() ?? 0) + 1 });
    assert.deepEqual(await lintStart(testPorts({ process: another }), path), []);
    Deno.removeSync(`${path}/start`, { recursive: true });
    assert.deepEqual(await lintStart(testPorts(), path), []);
  });
});

/** Damage that a seal must detect. */
const UNSEALED: Readonly<Record<string, readonly [Harm, RegExp]>> = {
  "a flipped bit of the manifest": [flip(MANIFEST), /manifest\.json": its checksum differs/],
  "a flipped bit of a turn": [flip(TURN), /000003\.json": its checksum differs/],
  "a missing blob": [remove(`start/blobs/${sha256Hex(TOOLS)}`), /start\/blobs\/.*": nothing is there/],
  "a file that is not listed": [put("start/turns/000006.json", "{}"), /fixture\.json does not list it/],
  "nothing left of it": [
    (path) => Deno.removeSync(`${path}/start`, { recursive: true }),
    /start\/.*": nothing is there/,
  ],
};

Deno.test("a test is not played with a start/ with checksums that differ from fixture.json", async () => {
  const play = { ports: livePorts(), update: null, signal: new AbortController().signal };
  for (const [name, [harm, says]] of Object.entries(UNSEALED)) {
    await withTest(async (path) => {
      requireSealedStart(denoFiles, path);
      harm(path);
      const { error } = await playTest({ name: "t", directory: path }, play);
      assert.deepEqual([error?.code, error?.exitCode], ["bad_fixture", 2], name);
      assert.match(error?.message ?? "", says, name);
    });
  }
});

Deno.test("a test that is no fixture itself has no checksums, and its start/ is not checked", async () => {
  await withTest((path) => {
    remove("fixture.json")(path);
    flip(TURN)(path);
    requireSealedStart(denoFiles, path);
  });
});

Deno.test("problems of a session test are reported on the command line: a start/ with a gap fails the linter, and one with another sum the test", async () => {
  await using sandbox = new Sandbox();
  const path = await writeTest(`${sandbox.workspace}/t`);
  flip(MANIFEST)(path);
  const tested = await sandbox.call(["test", "--json", "t"], { cwd: sandbox.workspace });
  assert.equal(tested.code, 2, tested.stdout + tested.stderr);
  assert.match(tested.stdout, /start\/manifest\.json\\": its checksum differs from fixture\.json/);
  flip(MANIFEST)(path);
  remove(TURN)(path);
  sealFixture(denoFiles, path);
  const linted = await sandbox.call(["fixture", "lint", "--json", "t"], { cwd: sandbox.workspace });
  assert.equal(linted.code, 7, linted.stdout + linted.stderr);
  assert.match(linted.stdout, /"code":"bad_start","path":"start\/turns\/000003\.json"/);
});

Deno.test("problems of a session test are reported on the command line: a prompt and instructions with a NUL byte are recorded as a test that passes", async () => {
  await using place = new Place(() => HELLO);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/brief.txt`, "Be\0brief.");
  const folder = `${place.sandbox.directory}/kept`;
  const called = await place.call(
    ["run", "--json", "--new", "-s", "one", "--instructions", "@brief.txt", "--record", folder, "-"],
    { stdin: "caf\0 nul", cwd: place.sandbox.workspace },
  );
  assert.equal(called.code, 0, called.stdout + called.stderr);
  assert.match(called.stdout, /"kind":"recorded".*"tested":true/);
  const tested = await place.call(["test", folder]);
  assert.equal(tested.code, 0, tested.stdout + tested.stderr);
});

/** `fixture prune` as a user calls it; plans, refusals and kills are tested beside their sources. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { bytesBelow } from "../support/files.ts";
import { Sandbox } from "../support/reprise.ts";
import { ended, fixtureOf, inputsOf, useOf, writeEvents } from "../doors/recordings/prune_lists.ts";
import { assertError, LACKS_MODES, WITH_MODES } from "./harness.ts";

/** Calls `fixture prune` on fixtures in the folder `suite`. */
class Pruning extends Sandbox {
  fixture(name: string, ...inputs: readonly string[]): string {
    return fixtureOf(`${this.directory}/suite/${name}`, inputs);
  }

  /** Writes the events of a `serve`; returns the name of the file. */
  events(uses: readonly ReturnType<typeof useOf>[], more: Readonly<Record<string, unknown>> = {}): string {
    const name = "used.jsonl";
    writeEvents(`${this.directory}/${name}`, ended(uses, more));
    return name;
  }

  prune(...args: readonly string[]) {
    return this.call(["fixture", "prune", ...args], { cwd: this.directory });
  }

  /** The bytes of all fixtures. */
  bytes() {
    return bytesBelow(`${this.directory}/suite`);
  }
}

test("fixture prune removes the unused exchanges of a folder of fixtures, names them, and is a no-op then", async () => {
  await using sandbox = new Pruning();
  const [login, chat] = [sandbox.fixture("login", "a", "b", "c"), sandbox.fixture("chat", "d")];
  const events = sandbox.events([useOf(login, 3), useOf(chat, 1)]);
  const { code, stdout, stderr } = await sandbox.prune("suite/", "--events", events);
  assert.equal(code, 0, stderr);
  assert.equal(
    stdout,
    "suite/login: removed 2 of 3 exchanges\n  1 a\n  2 b\n",
  );
  assert.equal(stderr, "");
  assert.deepEqual([inputsOf(login), inputsOf(chat)], [["c"], ["d"]]);
  assert.deepEqual([...Deno.readDirSync(login)].map(({ name }) => name).sort(), [
    "exchanges",
    "fixture.json",
  ]);
  const before = sandbox.bytes();
  const again = await sandbox.prune("suite", "--events", sandbox.events([useOf(login, 1), useOf(chat, 1)]));
  assert.deepEqual([again.code, again.stdout], [0, ""]);
  assert.match(again.stderr, /nothing to remove: every exchange of 2 fixtures is needed/);
  assert.deepEqual(sandbox.bytes(), before);
});

test("fixture prune --dry-run prints what prune does, and writes nothing", async () => {
  await using sandbox = new Pruning();
  const login = sandbox.fixture("login", "a", "b");
  sandbox.fixture("old", "c");
  const args = ["suite", "--events", sandbox.events([useOf(login, 2)], { unopened: ["old"] }), "--unopened"];
  const before = sandbox.bytes();
  const dry = await sandbox.prune(...args, "--dry-run");
  assert.deepEqual(sandbox.bytes(), before);
  const dryJson = JSON.parse((await sandbox.prune(...args, "--dry-run", "--json")).stdout);
  assert.deepEqual(sandbox.bytes(), before);
  const { stdout } = await sandbox.prune(...args, "--json");
  assert.deepEqual(dryJson, {
    ...JSON.parse(stdout),
    type: "dry_run",
    dry_run: true,
    verb: "fixture prune",
    changes: [
      { action: "remove", what: "exchange", name: "suite/login#1" },
      { action: "remove", what: "fixture", name: "suite/old" },
    ],
  });
  assert.deepEqual(JSON.parse(stdout), {
    path: "suite",
    fixtures: [{
      path: "suite/login",
      exchanges: 2,
      removed: [{ number: 1, prompt: "a" }],
      needed_issuers: [],
    }],
    removed_fixtures: [{ path: "suite/old", exchanges: 1 }],
    left_alone: [],
    dry_run: false,
  });
  assert.equal(
    dry.stdout,
    "suite/login: would remove 1 of 2 exchanges\n  1 a\nsuite/old: would remove with its 1 exchange\n",
  );
  assert.match(dry.stderr, /nothing was done/);
  assert.deepEqual([...Deno.readDirSync(`${sandbox.directory}/suite`)].map(({ name }) => name), ["login"]);
});

test("fixture prune keeps the fixtures of tests that were not run, says so, and removes them with --unopened", async () => {
  await using sandbox = new Pruning();
  const login = sandbox.fixture("login", "a");
  const [old, other] = [sandbox.fixture("old", "b", "c"), sandbox.fixture("other", "d")];
  const args = ["suite", "--events", sandbox.events([useOf(login, 1)], { unopened: ["old"] })];
  const before = sandbox.bytes();
  const kept = await sandbox.prune(...args);
  assert.deepEqual([kept.code, kept.stdout], [0, ""]);
  assert.match(
    kept.stderr,
    /unchanged: suite\/old: no request opened it; if the test is gone, --unopened removes it/,
  );
  assert.match(kept.stderr, /unchanged: suite\/other: no list of events names it/);
  assert.deepEqual(sandbox.bytes(), before);
  const removed = await sandbox.prune(...args, "--unopened");
  assert.deepEqual([removed.code, removed.stdout], [0, "suite/old: removed with its 2 exchanges\n"]);
  assert.throws(() => Deno.lstatSync(old), Deno.errors.NotFound);
  assert.deepEqual([inputsOf(login), inputsOf(other)], [["a"], ["d"]]);
});

test("fixture prune refuses lists that may lack uses, and changes nothing", async () => {
  await using sandbox = new Pruning();
  const login = sandbox.fixture("login", "a", "b");
  const good = `${sandbox.directory}/good.jsonl`;
  const use = useOf(login, 1);
  writeEvents(good, ended([use]));
  const before = sandbox.bytes();
  const rows: readonly (readonly [() => string, RegExp, RegExp])[] = [
    [
      () => sandbox.events([use], { missed: 1, exit_code: 7 }),
      /1 request had no recording/,
      /Make the client/,
    ],
    [
      () => sandbox.events([{ ...use, seal: "0".repeat(64) }]),
      /has changed since serve read it/,
      /Run serve again/,
    ],
    [() => "nothing.jsonl", /nothing is there/, /serve --events FILE/],
  ];
  for (const [events, says, hint] of rows) {
    const called = await sandbox.prune("suite", "--json", "--events", good, "--events", events());
    assertError(called, { code: "bad_events", exit: 2, says, hint });
    assert.deepEqual(sandbox.bytes(), before);
  }
  const none = await sandbox.prune("suite", "--json");
  assertError(none, { code: "usage", exit: 2, says: /without a list of uses/, hint: /--events FILE/ });
});

test.process("fixture prune is exit 5 while a recorder writes to one of the fixtures, and changes none of them", async () => {
  await using sandbox = new Pruning();
  const [login, chat] = [sandbox.fixture("login", "a", "b"), sandbox.fixture("chat", "c", "d")];
  const events = sandbox.events([useOf(chat, 1), useOf(login, 1)]);
  const recorder = sandbox.start([
    "record",
    "--append",
    "--json",
    "--out",
    login,
    "--upstream",
    "http://127.0.0.1:9",
  ]);
  await recorder.printed('"type":"ready"');
  const before = [inputsOf(chat), inputsOf(login)];
  try {
    const called = await sandbox.prune("suite", "--json", "--events", events);
    const says = new RegExp(`suite/login": locked by process ${recorder.process.pid} `);
    assertError(called, { code: "fixture_locked", exit: 5, says });
    assert.deepEqual([inputsOf(chat), inputsOf(login)], before);
    // Seal and redact would change files under the recorder.
    for (const verb of ["seal", "redact"]) {
      const refused = await sandbox.call(["fixture", verb, login, "--json"]);
      assertError(refused, { code: "fixture_locked", exit: 5, says: /locked by process/ });
    }
  } finally {
    recorder.process.kill("SIGTERM");
    await recorder.ended();
  }
  assert.equal((await sandbox.prune("suite", "--events", events)).code, 0);
  assert.deepEqual([inputsOf(chat), inputsOf(login)], [["c"], ["a"]]);
});

test.process(
  needing(
    "fixture prune of a folder that it may not write to is exit 14, and does not change it",
    LACKS_MODES,
  ),
  async () => {
    await using sandbox = new Pruning();
    const login = sandbox.fixture("login", "a", "b");
    const events = sandbox.events([useOf(login, 1)]);
    const before = sandbox.bytes();
    Deno.chmodSync(login, 0o500);
    const called = await sandbox.call(["fixture", "prune", "suite", "--json", "--events", events], {
      cwd: sandbox.directory,
      through: WITH_MODES,
    });
    Deno.chmodSync(login, 0o700);
    assertError(called, {
      code: "storage_denied",
      exit: 14,
      says: /Cannot prune the fixtures: permission denied/,
    });
    assert.deepEqual(sandbox.bytes(), before);
  },
);

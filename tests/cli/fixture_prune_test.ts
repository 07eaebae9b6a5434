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

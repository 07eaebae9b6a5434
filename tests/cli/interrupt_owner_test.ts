/** `interrupt` signals the process that wrote the lock's owner line, and no other that has its number. */
import assert from "node:assert/strict";
import { processIdentity } from "../../src/store/deno_files.ts";
import { lacksLinux, needing } from "../support/needs.ts";
import { test } from "../support/test.ts";
import { assertError, begun, HELLO, holdLock, ownerLine } from "./harness.ts";

/** A place with the session "s", whose run is complete. */
const one = begun([HELLO], (place) => place.session("s"));

/** A process that would die of a signal. */
class Bystander implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;

  constructor(command = "exec sleep 60") {
    this.#child = new Deno.Command("sh", { args: ["-c", command], stdin: "null", stdout: "null" }).spawn();
  }

  get pid(): number {
    return this.#child.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It was signalled already.
    }
    await this.#child.status;
  }
}

/** The identity of a live process, with one member changed. */
function changed(member: object): (pid: number) => string {
  return (pid) => ownerLine(pid, { identity: { ...processIdentity(pid), ...member } });
}

const older = (pid: number) => ownerLine(pid, {});

const SPARED: Readonly<Record<string, readonly [line: (pid: number) => string, says: RegExp]>> = {
  "its start time is another": [changed({ start_time: 1 }), /started at another time/],
  "its owner lives in another PID namespace": [
    changed({ pid_namespace: "pid:[1]" }),
    /another PID namespace/,
  ],
  "its owner ran before the last boot": [changed({ boot_id: "another" }), /before the last boot/],
  "an older version wrote the line, and the process does not have the lock open": [
    older,
    /nothing shows that process \d+ holds its lock/,
  ],
  "a line whose identity is incomplete is like one of an older version": [
    (pid) => ownerLine(pid, { identity: { boot_id: "x" } }),
    /nothing shows/,
  ],
};

for (const [what, [line, says]] of Object.entries(SPARED)) {
  const name = `interrupt never signals a process that only has the number of the lock's owner: ${what}`;
  test.long(needing(name, lacksLinux()), async () => {
    await using place = await one();
    await using bystander = new Bystander();
    using _held = holdLock(`${place.path("s")}/lock`, line(bystander.pid));
    for (const flags of [["--dry-run"], ["--wait", "1"]]) {
      const called = await place.call(["interrupt", "s", "--json", ...flags]);
      assertError(called, { code: "session_locked", exit: 5, says });
    }
    assert.ok(processIdentity(bystander.pid) !== null, "the bystander was signalled");
  });
}

test.long("interrupt signals no process that a line cannot name: init, a process group, part of a number", async () => {
  await using place = await one();
  for (const pid of [0, 1, -1, 1.5]) {
    using _held = holdLock(`${place.path("s")}/lock`, ownerLine(pid, {}));
    const called = await place.call(["interrupt", "s", "--json"]);
    assertError(called, { code: "session_locked", exit: 5, says: new RegExp(`process ${pid} is no writer`) });
  }
});

test.long(
  needing("interrupt names an owner that has ended while another process holds the lock", lacksLinux()),
  async () => {
    await using place = await one();
    const bystander = new Bystander();
    const line = changed({})(bystander.pid);
    await bystander[Symbol.asyncDispose]();
    using _held = holdLock(`${place.path("s")}/lock`, line);
    const called = await place.call(["interrupt", "s", "--json"]);
    assertError(called, { code: "session_locked", exit: 5, says: /has ended/ });
  },
);

for (
  const [what, line] of Object.entries({
    "of an older version's line: the process that has the lock file open": older,
    "of a line with an identity that fits": changed({}),
  })
) {
  test.long(needing(`interrupt signals the owner that it can verify: ${what}`, lacksLinux()), async () => {
    await using place = await one();
    const lock = `${place.path("s")}/lock`;
    await using owner = new Bystander(`exec 9<>'${lock}'; flock 9; echo >&9; exec sleep 60`);
    while ((Deno.lstatSync(lock).size) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    Deno.writeTextFileSync(lock, line(owner.pid));
    const called = await place.call(["interrupt", "s", "--json", "--wait", "10"]);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(JSON.parse(called.stdout).interrupted, owner.pid);
  });
}

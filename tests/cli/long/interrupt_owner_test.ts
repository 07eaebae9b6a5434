/** `interrupt` signals the process that wrote the lock's owner line, and no other that has its number. */
import assert from "node:assert/strict";
import { lacksLinux, needing } from "../../support/needs.ts";
import { processIdentity } from "../../../src/store/deno_files.ts";
import { assertError, begun, HELLO, holdLock, ownerLine } from "../harness.ts";

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

  get lives(): boolean {
    return processIdentity(this.pid) !== null;
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

async function assertSpared(line: (pid: number) => string, says: RegExp): Promise<void> {
  await using place = await one();
  await using bystander = new Bystander();
  using _held = holdLock(`${place.path("s")}/lock`, line(bystander.pid));
  for (const flags of [["--dry-run"], ["--wait", "1"]]) {
    const called = await place.call(["interrupt", "s", "--json", ...flags]);
    assertError(called, { code: "session_locked", exit: 5, says });
  }
  assert.ok(bystander.lives, "the bystander was signalled");
}

/** The identity of a live process, with one member changed. */
function changed(member: object): (pid: number) => string {
  return (pid) => ownerLine(pid, { identity: { ...processIdentity(pid), ...member } });
}

Deno.test(
  needing(
    "interrupt never signals a process that only has the number of the lock's owner: its start time is another",
    lacksLinux(),
  ),
  () => assertSpared(changed({ start_time: 1 }), /started at another time/),
);

Deno.test(
  needing(
    "interrupt never signals a process that only has the number of the lock's owner: its owner lives in another PID namespace",
    lacksLinux(),
  ),
  () => assertSpared(changed({ pid_namespace: "pid:[1]" }), /another PID namespace/),
);

Deno.test(
  needing(
    "interrupt never signals a process that only has the number of the lock's owner: its owner ran before the last boot",
    lacksLinux(),
  ),
  () => assertSpared(changed({ boot_id: "another" }), /before the last boot/),
);

Deno.test(
  needing(
    "interrupt never signals a process that only has the number of the lock's owner: an older version wrote the line, and the process does not have the lock open",
    lacksLinux(),
  ),
  () => assertSpared((pid) => ownerLine(pid, {}), /nothing shows that process \d+ holds its lock/),
);

Deno.test(
  needing(
    "interrupt never signals a process that only has the number of the lock's owner: a line whose identity is incomplete is like one of an older version",
    lacksLinux(),
  ),
  () => assertSpared((pid) => ownerLine(pid, { identity: { boot_id: "x" } }), /nothing shows/),
);

Deno.test("interrupt signals no process that a line cannot name: init, a process group, part of a number", async () => {
  await using place = await one();
  for (const pid of [0, 1, -1, 1.5]) {
    using _held = holdLock(`${place.path("s")}/lock`, ownerLine(pid, {}));
    const called = await place.call(["interrupt", "s", "--json"]);
    assertError(called, { code: "session_locked", exit: 5, says: new RegExp(`process ${pid} is no writer`) });
  }
});

Deno.test(
  needing(
    "interrupt never signals a process that only has the number of the lock's owner: the owner has ended, and another process holds the lock",
    lacksLinux(),
  ),
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

Deno.test(
  needing(
    "interrupt signals the owner that it can verify: of an older version's line: the process that has the lock file open",
    lacksLinux(),
  ),
  async () => {
    await using place = await one();
    const lock = `${place.path("s")}/lock`;
    await using owner = new Bystander(`exec 9<>'${lock}'; flock 9; echo >&9; exec sleep 60`);
    while ((Deno.lstatSync(lock).size) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    Deno.writeTextFileSync(lock, ownerLine(owner.pid, {}));
    const called = await place.call(["interrupt", "s", "--json", "--wait", "10"]);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(JSON.parse(called.stdout).interrupted, owner.pid);
  },
);

Deno.test(
  needing(
    "interrupt signals the owner that it can verify: of a line with an identity that fits",
    lacksLinux(),
  ),
  async () => {
    await using place = await one();
    const lock = `${place.path("s")}/lock`;
    await using owner = new Bystander(`exec 9<>'${lock}'; flock 9; echo >&9; exec sleep 60`);
    while ((Deno.lstatSync(lock).size) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    Deno.writeTextFileSync(lock, changed({})(owner.pid));
    const called = await place.call(["interrupt", "s", "--json", "--wait", "10"]);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(JSON.parse(called.stdout).interrupted, owner.pid);
  },
);

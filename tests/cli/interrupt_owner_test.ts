/** `interrupt` signals the process that wrote the lock's owner line, and no other that has its number. */
import assert from "node:assert/strict";
import { lacksLinux, needing } from "../support/needs.ts";
import { test } from "../support/test.ts";
import { assertError, begun, HELLO, holdLock, json, ownerLine, until } from "./harness.ts";

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

/** The fields of a process after its name, which is in parentheses. */
function fieldsOf(pid: number): string[] {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** The owner line of a live process, with its identity as docs/format.md says, and with one member changed. */
const changed = (member: object) => (pid: number): string =>
  ownerLine(pid, {
    identity: {
      pid_namespace: Deno.readLinkSync("/proc/self/ns/pid"),
      boot_id: Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim(),
      start_time: Number(fieldsOf(pid)[19]),
      ...member,
    },
  });

const older = (pid: number) => ownerLine(pid);

/** Lines about a process that is not the owner, and the reason. */
const SPARED: readonly (readonly [line: (pid: number) => string, says: RegExp])[] = [
  [changed({ start_time: 1 }), /started at another time/],
  [changed({ pid_namespace: "pid:[1]" }), /another PID namespace/],
  [changed({ boot_id: "another" }), /before the last boot/],
  // A line of an older version, whose process does not have the lock open.
  [older, /nothing shows that process \d+ holds its lock/],
  [(pid) => ownerLine(pid, { identity: { boot_id: "x" } }), /nothing shows/],
  // Init, a process group, part of a number.
  ...[0, 1, -1, 1.5].map((pid) => [() => ownerLine(pid), new RegExp(`process ${pid} is no writer`)] as const),
];

test.long(
  needing("interrupt never signals a process that only has the number of the lock's owner", lacksLinux()),
  async () => {
    await using place = await one();
    await using bystander = new Bystander();
    for (const [line, says] of SPARED) {
      using _held = holdLock(`${place.path("s")}/lock`, line(bystander.pid));
      for (const flags of [["--dry-run"], ["--wait", "1"]]) {
        const called = await place.call(["interrupt", "s", "--json", ...flags]);
        assertError(called, { code: "session_locked", exit: 5, says });
      }
    }
    assert.notEqual(fieldsOf(bystander.pid)[0], "Z", "the bystander was signalled");
    const line = changed({})(bystander.pid);
    await bystander[Symbol.asyncDispose]();
    using _held = holdLock(`${place.path("s")}/lock`, line);
    const called = await place.call(["interrupt", "s", "--json"]);
    assertError(called, { code: "session_locked", exit: 5, says: /has ended/ });
  },
);

test.long(
  needing(
    "interrupt signals the owner that it can verify: by its identity, or by the lock that it has open",
    lacksLinux(),
  ),
  async () => {
    for (const line of [older, changed({})]) {
      await using place = await one();
      const lock = `${place.path("s")}/lock`;
      await using owner = new Bystander(`exec 9<>'${lock}'; flock 9; echo >&9; exec sleep 60`);
      await until(() => Deno.lstatSync(lock).size > 0, "the lock");
      Deno.writeTextFileSync(lock, line(owner.pid));
      assert.equal((await json(place, ["interrupt", "s", "--wait", "10"])).interrupted, owner.pid);
    }
  },
);

import assert from "node:assert/strict";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { sessionOwner } from "../../../src/store/write/lock.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { ID, newSession, newWriter, testPorts, userDraft, withHome } from "./support.ts";
import { test } from "../../support/test.ts";

test.long("a lock that its last owner released, and a process that was just starting still holds, is waited for", () =>
  withHome(async (home) => {
    const ports = testPorts();
    await newSession(ports, home);
    using copy = Deno.openSync(`${home.sessions}/${ID}/lock`, { read: true, write: true });
    copy.lockSync(true);
    const timer = setTimeout(() => copy.unlockSync(), 300);
    try {
      (await SessionWriter.open(ports, home, { id: ID })).close();
    } finally {
      clearTimeout(timer);
    }
  }));

Deno.test("a writer that waits for a session gets an error if the session is removed meanwhile", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    const waiting = SessionWriter.open(testPorts(), home, { id: ID, waitMs: 5000 });
    const refused = assert.rejects(waiting, { code: "no_such_session", message: /was removed meanwhile/ });
    Deno.removeSync(writer.path, { recursive: true });
    writer.close();
    await refused;
  }));

test.long("waitMs waits until the owner is done", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const first = await SessionWriter.open(testPorts(), home, { id: ID });
    const second = SessionWriter.open(testPorts(), home, { id: ID, waitMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    first.append(userDraft("go on", 2));
    first.close();
    const writer = await second;
    assert.equal(writer.turns.length, 6);
    writer.close();
  }));

test.long("waiting ends when its signal aborts, and the lock is not taken later", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const first = await SessionWriter.open(testPorts(), home, { id: ID });
    const stop = new AbortController();
    const second = SessionWriter.open(testPorts(), home, { id: ID, waitMs: 20_000, signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await assert.rejects(second, { code: "interrupted" });
    first.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    (await SessionWriter.open(testPorts(), home, { id: ID })).close();
  }));

test.long({
  name:
    "a lock file that was replaced between opening and locking excludes no other writer, and is not mistaken for a lock",
  // Only Linux lists the holders of locks.
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withHome(async (home) => {
      await newSession(testPorts(), home);
      const path = `${home.sessions}/${ID}/lock`;
      const real = testPorts();
      let replaced = false;
      const ports = testPorts({
        files: {
          ...real.files,
          // The look right after locking is where the path must still name what was locked.
          facts(asked) {
            if (asked === path && !replaced && isLockedByUs(path)) {
              replaced = true;
              Deno.renameSync(path, `${path}.gone`);
              Deno.writeTextFileSync(path, "", { mode: 0o600 });
            }
            return real.files.facts(asked);
          },
        },
      });
      const writer = await SessionWriter.open(ports, home, { id: ID });
      assert.ok(replaced);
      // A later writer finds the new file locked.
      await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), { code: "session_locked" });
      writer.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }),
});

/** True when some descriptor holds an exclusive lock on that file. */
function isLockedByUs(path: string): boolean {
  const inode = Deno.lstatSync(path).ino;
  return Deno.readTextFileSync("/proc/locks").split("\n").some((line) => line.includes(`:${inode} `));
}

Deno.test("a file system that refuses the lock (EIO, ESTALE, ENOLCK) is a failure of the storage for every caller", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const { prototype } = Deno.FsFile;
    const { tryLockSync } = prototype;
    for (const message of ["Input/output error (os error 5)", "Stale file handle (os error 116)"]) {
      const refuse = () => {
        throw new Error(message);
      };
      prototype.tryLockSync = refuse;
      try {
        const asks: readonly (() => Promise<unknown>)[] = [
          () => SessionWriter.open(testPorts(), home, { id: ID }),
          () => fsckSession(testPorts(), home, ID),
          () => sessionOwner(testPorts(), home, ID),
        ];
        for (const ask of asks) {
          await assert.rejects(ask, (error: { code: string; exitCode: number; message: string }) => {
            assert.deepEqual([error.code, error.exitCode], ["storage_failed", 14], error.message);
            assert.ok(error.message.includes(message) && error.message.includes("/lock"), error.message);
            return true;
          });
        }
      } finally {
        prototype.tryLockSync = tryLockSync;
      }
    }
  }));

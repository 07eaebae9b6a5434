import assert from "node:assert/strict";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { sessionOwner } from "../../../src/store/write/lock.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { ID, newSession, newWriter, testPorts, testProcess, userDraft, withHome } from "./support.ts";
import { test } from "../../support/test.ts";

/** Starts a process that opens session {@linkcode ID} and holds it until it is killed. */
async function holdInAnotherProcess(home: string): Promise<Deno.ChildProcess> {
  const support = new URL("./support.ts", import.meta.url).href;
  const code = `
    import { openHome } from ${JSON.stringify(new URL("../../../src/store/home.ts", import.meta.url).href)};
    import { SessionWriter } from ${
    JSON.stringify(new URL("../../../src/store/write/writer.ts", import.meta.url).href)
  };
    import { ID, testPorts } from ${JSON.stringify(support)};
    const ports = testPorts();
    await SessionWriter.open(ports, openHome(ports, ${JSON.stringify(home)}), { id: ID });
    console.log("held");
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  `;
  const script = `${home}/holder.ts`;
  await Deno.writeTextFile(script, code);
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "--config", config, script],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assert.equal(new TextDecoder().decode(value), "held\n");
  await reader.cancel();
  return child;
}

test.long("a second writer is refused at once, with the name of the first one", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const first = await SessionWriter.open(testPorts(), home, { id: ID });
    const started = performance.now();
    await assert.rejects(
      SessionWriter.open(testPorts({ process: testProcess({ pid: 1, host: "other" }) }), home, {
        id: ID,
      }),
      (error: { code: string; exitCode: number; message: string; hint: string }) => {
        assert.equal(error.code, "session_locked");
        assert.equal(error.exitCode, 5);
        assert.match(
          error.message,
          new RegExp(`locked by process ${Deno.pid} on host test-host since \\d{4}-\\d\\d-\\d\\dT.+Z$`),
        );
        assert.match(error.hint, /--wait/);
        return true;
      },
    );
    assert.ok(performance.now() - started < 10_000, "a refusal must not take long");
    first.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    (await SessionWriter.open(testPorts(), home, { id: ID })).close();
  }));

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

test.long("a lock dies with its process: after kill -9 the next writer is in, and the stale owner line is replaced", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const child = await holdInAnotherProcess(home.path);
    await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), {
      code: "session_locked",
      message: new RegExp(`locked by process ${child.pid} `),
    });
    assert.equal((await fsckSession(testPorts(), home, ID)).in_use, true);
    child.kill("SIGKILL");
    await child.status;
    const started = performance.now();
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    assert.ok(performance.now() - started < 10_000);
    assert.match(Deno.readTextFileSync(`${writer.path}/lock`), new RegExp(`"pid":${Deno.pid},`));
    writer.close();
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

Deno.test("two writers that both hold no lock still cannot overwrite: the later one diverges and loses nothing", () =>
  withHome(async (home) => {
    const late = await newWriter(testPorts(), home);
    // Somebody else's file takes the number, as a writer on a file system without locks would.
    const other = await withHome(async (elsewhere) => {
      const writer = await newWriter(testPorts(), elsewhere);
      writer.append(userDraft("the other's"));
      writer.close();
      return Deno.readFileSync(`${writer.path}/turns/000001.json`);
    });
    Deno.writeFileSync(`${late.path}/turns/000001.json`, other, { mode: 0o600 });
    assert.throws(() => late.append(userDraft("mine")), {
      code: "session_diverged",
      exitCode: 5,
      message:
        /another writer has used that number; this turn is kept in quarantine\/000001\.json\.diverged-/,
    });
    assert.throws(() => late.append(userDraft("mine again")), { code: "session_diverged" });
    late.close();
    assert.deepEqual(Deno.readFileSync(`${late.path}/turns/000001.json`), other);
    const kept = [...Deno.readDirSync(`${late.path}/quarantine`)].map(({ name }) => name);
    assert.equal(kept.length, 1);
    assert.match(Deno.readTextFileSync(`${late.path}/quarantine/${kept[0]}`), /"text":"mine"/);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 1);
  }));

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

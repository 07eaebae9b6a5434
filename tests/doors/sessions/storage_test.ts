/** Verbs on file systems that fail, lack something, or change under them. */
import assert from "node:assert/strict";
import { type Json, textsBelow } from "../../support/files.ts";
import { callHere } from "../../support/in_process.ts";
import type { Called } from "../../support/reprise.ts";
import { scaled } from "../../support/scale.ts";
import { type Operation, spiedDisk, systemError } from "../../support/spied_disk.ts";
import { test } from "../../support/test.ts";
import { writeFixture } from "../recordings/recording_files.ts";
import { answerText, responseStream } from "../wire/streams_answers.ts";
import { ID, SessionHome, withHome } from "./home.ts";
import { user } from "./session_files.ts";

/** Outcome of a call: its exit code, and its error if it has one. */
interface Outcome extends Called {
  readonly error: Json;
}

/** Calls a verb with `--json` on a disk that reports its operations. */
async function onDisk(
  home: SessionHome,
  before: (operation: Operation) => void,
  ...args: readonly string[]
): Promise<Outcome> {
  const called = await callHere({
    args: [...args, "--json"],
    cwd: home.workspace,
    env: { ...home.environment(), OPENAI_API_KEY: "sk-test-1" },
    stdin: new Uint8Array(0),
    disk: spiedDisk(before),
  });
  const lines = called.stdout.trim().split("\n").filter((line) => line !== "").map((line) =>
    JSON.parse(line)
  );
  return { ...called, error: lines.find(({ type }) => type === "error") ?? null };
}

/** Arguments of a run of the session that plays one answer. */
function runOn(home: SessionHome, ...flags: readonly string[]): string[] {
  const body = responseStream([answerText("Done.")]);
  const fixture = writeFixture(`${home.directory}/fixture`, [{ body }, { body }]);
  return ["run", "-s", ID, ...flags, "--fixture", fixture, "--match", "sequence", "-m", "gpt-5.6", "Go on"];
}

const pathOf = (home: SessionHome, id = ID) => `${home.home}/sessions/${id}`;
const move = Deno.renameSync;

/** Ways to displace an open session; the other one has its id and the same turns. */
const DISPLACED: Readonly<Record<string, (path: string, other: string) => void>> = {
  "moved away, and replaced by another": (path, other) => {
    move(path, `${path}.away`);
    move(other, path);
  },
  // The file system reuses the inode numbers of removed directories.
  "removed, and replaced by another": (path, other) => {
    Deno.removeSync(path, { recursive: true });
    move(other, path);
  },
  "moved away": (path) => move(path, `${path}.away`),
  "left without its blobs": (path) => move(`${path}/blobs`, `${path}/away`),
};

for (const [how, displace] of Object.entries(DISPLACED)) {
  test.long(`a session that is ${how} during a run, before whichever operation, costs nothing that was there: the run ends as diverged or is done`, async () => {
    let [diverged, isOver] = [0, false];
    for (let at = 1; !isOver; at += scaled(3, 1)) {
      await using home = new SessionHome();
      const { path } = home.session();
      const other = home.session([...Array(5).keys()].map(() => user("Another")), "other").path;
      move(other, `${home.home}/other`);
      for (const name of Deno.readDirSync(`${home.home}/other/turns`)) {
        Deno.copyFileSync(`${path}/turns/${name.name}`, `${home.home}/other/turns/${name.name}`);
      }
      const untouched = textsBelow(`${home.home}/other`, "lock");
      let count = 0;
      const { code, error } = await onDisk(home, ({ path: used }) => {
        // What comes before the lock only looks.
        if (!used.startsWith(path) || ++count !== at) return;
        displace(path, `${home.home}/other`);
      }, ...runOn(home));
      isOver = count < at;
      if (isOver) assert.equal(code, 0);
      else if (code !== 0) {
        const allowed = ["session_diverged", "no_such_session", "session_damaged", "storage_failed"];
        assert.ok(allowed.includes(error.code), `before operation ${at}: ${JSON.stringify(error)}`);
        if (error.code === "session_diverged") diverged++;
      }
      // Before the first divergence the run may not have opened the session yet, and continues the other one.
      if (!how.includes("replaced") || diverged === 0) continue;
      const kept = isOver ? `${home.home}/other` : path;
      assert.deepEqual(textsBelow(kept, "lock"), untouched, `before operation ${at}`);
    }
    assert.ok(diverged > 0, "no writer was displaced");
  });
}

for (const code of ["EPERM", "ENOTSUP", "ENOSYS", "EXDEV", "EMLINK"]) {
  withHome(
    `where links fail with ${code}, turns get their numbers, and forks their copies, all the same`,
    async (home) => {
      home.session();
      const withoutLinks = ({ name }: Operation) => {
        if (name === "link") throw systemError(code);
      };
      for (const args of [runOn(home), ["fork", ID]]) {
        const called = await onDisk(home, withoutLinks, ...args);
        assert.equal(called.code, 0, called.stdout);
      }
      const child = home.names().find((id) => id !== ID) ?? assert.fail("no fork");
      assert.deepEqual([await home.damage(), await home.damage(child)], [[], []]);
      const [mine, theirs] = [ID, child].map((id) => Deno.lstatSync(`${pathOf(home, id)}/turns/000001.json`));
      assert.notEqual(mine?.ino, theirs?.ino);
      assert.deepEqual([(theirs?.mode ?? 0) & 0o777, theirs?.size], [0o600, mine?.size]);
    },
  );
}

for (const hasLinks of [true, false]) {
  withHome(
    `a number that another program takes meanwhile is not overwritten ${
      hasLinks ? "" : "where links do not work"
    }: the run keeps its turn in quarantine`,
    async (home) => {
      const { path } = home.session();
      const taken = `${path}/turns/000006.json`;
      const { code, error } = await onDisk(home, ({ name, to }) => {
        if (name === "link" && to === taken) {
          Deno.writeTextFileSync(taken, "another writer's", { createNew: true });
        }
        if (name === "link" && !hasLinks) throw systemError("ENOTSUP");
      }, ...runOn(home));
      assert.deepEqual([code, error.code], [5, "session_diverged"]);
      assert.match(
        error.message,
        /another writer has used that number; .* quarantine\/000006\.json\.diverged-/,
      );
      assert.equal(Deno.readTextFileSync(taken), "another writer's");
      const [kept, ...others] = [...textsBelow(`${path}/quarantine`).values()];
      assert.deepEqual(others, []);
      assert.match(kept ?? "", /"text":"Go on"/);
    },
  );
}

test.long("after an fsync that failed nothing more is written, whichever it was, also if the close fails", async () => {
  let [syncs, isOver] = [0, false];
  for (; !isOver; syncs++) {
    await using home = new SessionHome();
    home.session();
    let count = 0;
    const after: string[] = [];
    const { code, error } = await onDisk(home, ({ name, path }) => {
      const isFailing = count > syncs;
      if (["sync", "syncDirectory"].includes(name) && count++ === syncs || isFailing && name === "close") {
        throw systemError("EIO");
      }
      if (isFailing && ["createExclusive", "link", "rename", "write"].includes(name)) {
        after.push(`${name} ${path}`);
      }
    }, ...runOn(home));
    isOver = count <= syncs;
    if (isOver) assert.equal(code, 0);
    else assert.deepEqual([code, error.code, after], [14, "storage_failed", []], `fsync ${syncs + 1}`);
  }
  assert.ok(syncs > 10, `${syncs} fsyncs`);
});

test.long("a session that is removed or replaced while fsck checks it is reported as gone, whenever that happens", async () => {
  await using home = new SessionHome();
  let [gone, isOver] = [0, false];
  for (let at = 2; !isOver; at++) {
    const { path } = home.session();
    let count = 0;
    const { code, error, stdout } = await onDisk(
      home,
      ({ path: used }) => {
        if (!used.startsWith(path) || ++count !== at) return;
        move(path, `${home.home}/away`);
        if (at % 2 === 0) Deno.mkdirSync(path, { mode: 0o700 });
      },
      "fsck",
      ID,
    );
    isOver = count < at;
    if (isOver) assert.deepEqual(JSON.parse(stdout).sessions[0].findings, []);
    else if (code !== 0) {
      gone++;
      assert.equal(error.code, "no_such_session", `before operation ${at}: ${stdout}`);
    }
    for (const left of [path, `${home.home}/away`]) {
      await Deno.remove(left, { recursive: true }).catch(() => {});
    }
  }
  assert.ok(gone > 5, `${gone} times`);
});

test.long("where its directory cannot be renamed, rm removes a session in its place; stopped anywhere, it leaves a whole or a refused one, and a second rm finishes", async () => {
  await using home = new SessionHome();
  let [refused, isOver] = [0, false];
  for (let at = 1; !isOver; at++) {
    const session = home.session();
    if (at % 3 === 0) Deno.removeSync(session.manifest);
    let count = 0;
    const { code } = await onDisk(
      home,
      ({ name }) => {
        if (name === "rename") throw systemError("EXDEV");
        if (++count >= at) throw systemError("EINTR");
      },
      "rm",
      ID,
      "--yes",
    );
    isOver = code === 0;
    if (home.names().includes(ID)) {
      const { error } = await onDisk(home, () => {}, ...runOn(home, "--dry-run"));
      if (error !== null) {
        refused++;
        // Without turns and manifest it looks like a creation that was cut short.
        assert.ok(["session_damaged", "no_such_session"].includes(error.code), `${at}: ${error.message}`);
      } else {
        const damage = (await home.damage()).filter((line) => !line.includes("manifest_missing"));
        assert.deepEqual(damage, [], `before operation ${at}`);
      }
      assert.equal((await onDisk(home, () => {}, "rm", ID, "--yes")).code, 0);
    }
    assert.deepEqual(home.names(), [], `before operation ${at}`);
  }
  assert.ok(refused >= 3, `${refused} were half removed`);
});

withHome("a parent whose turn is replaced while it is forked leaves no fork", async (home) => {
  const { path } = home.session();
  let isReplaced = false;
  const { code, error } = await onDisk(
    home,
    ({ name }) => {
      if (name !== "link" || isReplaced) return;
      isReplaced = true;
      Deno.copyFileSync(`${path}/turns/000002.json`, `${home.home}/second`);
      move(`${home.home}/second`, `${path}/turns/000003.json`);
    },
    "fork",
    ID,
  );
  assert.deepEqual([code, error.code], [5, "session_diverged"]);
  assert.match(error.message, /turns\/000003\.json was replaced or removed/);
  assert.deepEqual(home.names(), [ID]);
});

withHome("a session that takes the name while a fork is made keeps it", async (home) => {
  home.session();
  let taken = "";
  const take = ({ name, to = "" }: Operation) => {
    if (name !== "rename" || !/\/sessions\/[^./]+$/.test(to)) return;
    Deno.mkdirSync(`${taken = to}/turns`, { recursive: true });
  };
  assert.equal((await onDisk(home, take, "fork", ID)).error.code, "session_exists");
  assert.deepEqual([...Deno.readDirSync(taken)].map(({ name }) => name), ["turns"]);
});

/** Runs `act` with a method of all open files replaced: locks do not use the disk of a call. */
async function withMethod(name: "tryLockSync" | "writeSync", method: () => never, act: () => Promise<void>) {
  const { prototype } = Deno.FsFile;
  const real = prototype[name];
  prototype[name] = method;
  try {
    await act();
  } finally {
    prototype[name] = real as never;
  }
}

withHome("with no byte left, rm works, and a run and a fork say so and leave nothing", async (home) => {
  home.session();
  home.session(undefined, "b");
  const full = () => {
    throw systemError("ENOSPC");
  };
  const needsRoom = ({ name }: Operation) => {
    if (["createExclusive", "makeDirectory", "write"].includes(name)) full();
  };
  await withMethod("writeSync", full, async () => {
    for (const args of [runOn(home), ["fork", ID]]) {
      const { code, error } = await onDisk(home, needsRoom, ...args);
      assert.deepEqual([code, error.code], [14, "storage_full"]);
    }
    for (const args of [["rm", "b", "--yes"], ["rm", "--unused"], ["rm", "--keep", "0", "--yes"]]) {
      assert.equal((await onDisk(home, needsRoom, ...args)).code, 0, args.join(" "));
    }
  });
  assert.deepEqual(home.names(), []);
});

withHome(
  "a file system that refuses the lock (EIO, ESTALE) is a failure of the storage for every verb",
  async (home) => {
    home.session();
    for (const message of ["Input/output error (os error 5)", "Stale file handle (os error 116)"]) {
      const refuse = () => {
        throw new Error(message);
      };
      await withMethod("tryLockSync", refuse, async () => {
        for (const args of [runOn(home), ["fsck", ID], ["interrupt", ID]]) {
          const { code, error } = await onDisk(home, () => {}, ...args);
          assert.deepEqual([code, error.code], [14, "storage_failed"], args[0]);
          assert.ok(error.message.includes(message) && error.message.includes("/lock"), error.message);
        }
      });
    }
  },
);

/** Locks the file of a session as another process does, without a line about its owner. */
function heldLock(home: SessionHome): Deno.FsFile {
  const file = Deno.openSync(`${pathOf(home)}/lock`, { read: true, write: true, create: true, mode: 0o600 });
  file.lockSync(true);
  return file;
}

test.long("a lock that its last owner released, and a process that is just starting still holds, is waited for", async () => {
  await using home = new SessionHome();
  home.session();
  using held = heldLock(home);
  setTimeout(() => held.unlockSync(), 300);
  const { code, stdout } = await onDisk(home, () => {}, ...runOn(home));
  assert.equal(code, 0, stdout);
});

test.long("a run that waits for a session gets an error if the session is removed meanwhile", async () => {
  await using home = new SessionHome();
  const { path } = home.session();
  using held = heldLock(home);
  const waiting = onDisk(home, () => {}, ...runOn(home, "--wait", "10"));
  await new Promise((resolve) => setTimeout(resolve, 600));
  Deno.removeSync(path, { recursive: true });
  held.unlockSync();
  const { code, error } = await waiting;
  assert.deepEqual([code, error.code], [2, "no_such_session"]);
  assert.match(error.message, /was removed meanwhile/);
});

withHome(
  "a lock file that is replaced between opening and locking is not mistaken for the lock",
  async (home) => {
    const { path } = home.session();
    const lock = `${path}/lock`;
    Deno.writeTextFileSync(lock, "", { mode: 0o600 });
    // Only Linux lists the holders of locks.
    const isLocked = () => {
      const inode = Deno.lstatSync(lock).ino;
      return Deno.readTextFileSync("/proc/locks").split("\n").some((line) => line.includes(`:${inode} `));
    };
    let isReplaced = false;
    const lockedAtLinks: boolean[] = [];
    const { code, stdout } = await onDisk(home, ({ name, path: used }) => {
      if (name === "link") lockedAtLinks.push(isLocked());
      // The look right after locking is where the path must still name what was locked.
      if (name !== "facts" || used !== lock || isReplaced || !isLocked()) return;
      isReplaced = true;
      move(lock, `${lock}.gone`);
      Deno.writeTextFileSync(lock, "", { mode: 0o600 });
    }, ...runOn(home));
    assert.deepEqual([code, isReplaced], [0, true], stdout);
    assert.deepEqual(lockedAtLinks.slice(0, 1), [true], "a turn is published under the lock of the new file");
  },
);

withHome(
  "a turn that is too deep to be read again is an error of the storage, and no broken session",
  async (home) => {
    home.session();
    const value = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`);
    const fixture = writeFixture(`${home.directory}/deep`, [{
      body: responseStream([{ type: "x", value }]),
    }]);
    const args = [...runOn(home), "--fixture", fixture];
    const { code, error } = await onDisk(home, () => {}, ...args);
    assert.deepEqual([code, error.code], [14, "storage_failed"]);
    assert.match(error.message, /deeper than 512/);
    assert.deepEqual(await home.damage(), []);
  },
);

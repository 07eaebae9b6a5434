/** A full disk: verbs that free space work on it, and a failed operation leaves nothing. */
import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { collectGarbage } from "../../../src/store/lifecycle/remove.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { chooseSessions } from "../../../src/store/lifecycle/remove.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { removeSession } from "../../../src/store/lifecycle/remove.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { fill, lacksMount, withMount } from "../../support/mounts.ts";
import { type Operation, spyFiles, systemError } from "./spy_files.ts";
import { ID, newSession, newWriter, portsOn, testPorts, userDraft, withHome } from "./support.ts";
import { exported, imported } from "./transfer_support.ts";
import { test } from "../../support/test.ts";
import { needing } from "../../support/needs.ts";

const CHILD = parseSessionId("child");
const FULL = { code: "storage_full", exitCode: 14 };

/** Operations that need space: new files and directories, and their content. */
const NEEDS_ROOM: ReadonlySet<Operation["name"]> = new Set(
  ["createExclusive", "write", "makeDirectory"] as const,
);

/** Runs `body` as on a full disk: through the file port, and for the lock, which does not use it. */
async function whileFull(body: (ports: ReturnType<typeof portsOn>) => Promise<unknown>): Promise<void> {
  const { writeSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.writeSync = () => {
    throw systemError("ENOSPC");
  };
  try {
    await body(portsOn(spyFiles(({ name }) => {
      if (NEEDS_ROOM.has(name)) throw systemError("ENOSPC");
    })));
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
}

/** Names of everything in the directory of sessions. */
function names(home: Home): string[] {
  return [...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort();
}

/** A session with a blob that no turn names, and a file that a killed writer left. */
async function withGarbage(home: Home): Promise<void> {
  const writer = await newWriter(testPorts(), home);
  writer.append(userDraft("hello"));
  writer.putBlob(new Uint8Array(4096));
  writer.close();
  Deno.writeTextFileSync(`${writer.path}/.tmp-1-abc`, "half", { mode: 0o600 });
}

async function fork(ports: ReturnType<typeof testPorts>, home: Home): Promise<void> {
  const plan = planFork(testPorts(), home, { parent: ID });
  await forkSession(ports, home, plan, { id: CHILD, summary: null, usage: NO_USAGE });
}

Deno.test("rm removes a session with no byte left", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await whileFull((ports) => removeSession(ports, home, ID));
    assert.deepEqual(names(home), []);
  }));

Deno.test("prune and gc free space with no byte left", () =>
  withHome(async (home) => {
    await withGarbage(home);
    await whileFull(async (ports) => {
      const { removed, skipped } = await collectGarbage(ports, home, { dryRun: false });
      assert.deepEqual([removed.map(({ kind }) => kind), skipped], [["temporary", "blob"], []]);
      for (const { id } of chooseSessions(ports, home, { keep: 0 })) await removeSession(ports, home, id);
    });
    assert.deepEqual(names(home), []);
  }));

Deno.test("a writer does not begin with no byte left, and says why", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await whileFull((ports) => assert.rejects(SessionWriter.open(ports, home, { id: ID }), FULL));
  }));

Deno.test("a fork or an import that runs out of room leaves nothing, wherever that happens", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const text = exported(home).join("\n") + "\n";
    for (const make of ["fork", "import"] as const) {
      if (make === "import") await removeSession(testPorts(), home, ID);
      const before = names(home);
      await whileFull((ports) =>
        assert.rejects(make === "fork" ? fork(ports, home) : imported(home, text, { ports }), FULL)
      );
      assert.deepEqual(names(home), before, make);
      for (let at = 1;; at++) {
        let count = 0;
        const ports = portsOn(spyFiles(({ name }) => {
          if (NEEDS_ROOM.has(name) && ++count >= at) throw systemError("ENOSPC");
        }));
        const made = make === "fork" ? fork(ports, home) : imported(home, text, { ports });
        const failed = await made.then(() => null, (error) => error);
        if (failed === null) {
          assert.ok(at > 8, `${make}: only ${at} operations need room`);
          break;
        }
        assert.equal(failed.code, "storage_full", String(failed));
        assert.deepEqual(names(home), before, `${make}, from operation ${at} on`);
      }
    }
  }));

Deno.test("a fork whose lock cannot be taken leaves nothing", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const { writeSync } = Deno.FsFile.prototype;
    Deno.FsFile.prototype.writeSync = () => {
      throw systemError("ENOSPC");
    };
    try {
      // Every file has room but the lock.
      await assert.rejects(fork(testPorts(), home), FULL);
    } finally {
      Deno.FsFile.prototype.writeSync = writeSync;
    }
    assert.deepEqual(names(home), [ID]);
  }));

test.long(
  needing(
    "on a file system that is really full, rm, gc and prune work and a failed fork leaves nothing",
    await lacksMount("tmpfs"),
  ),
  async () => {
    const root = await Deno.makeTempDir({ prefix: "reprise-full-" });
    try {
      await withMount(root, { type: "tmpfs", options: "size=512k" }, async () => {
        const home = openHome(testPorts(), `${root}/home`, { create: true });
        await withGarbage(home);
        for (const name of ["a", "b"]) {
          await newSession(testPorts(), home, parseSessionId(name));
        }
        fill(`${root}/full`);
        await assert.rejects(fork(testPorts(), home), FULL);
        assert.deepEqual(names(home), ["a", "b", ID]);
        await removeSession(testPorts(), home, parseSessionId("a"));
        fill(`${root}/again`);
        const { removed, skipped } = await collectGarbage(testPorts(), home, { dryRun: false });
        assert.deepEqual([removed.length, skipped], [2, []]);
        fill(`${root}/more`);
        for (const { id } of chooseSessions(testPorts(), home, { keep: 1 })) {
          await removeSession(testPorts(), home, id);
        }
        assert.equal(names(home).length, 1);
        assert.ok(readSession(testPorts(), home, parseSessionId(names(home)[0] as string)).turns.length > 0);
      });
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
);

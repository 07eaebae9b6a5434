/** A full disk: verbs that free space work on it, and a failed operation leaves nothing. */
import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { collectGarbage } from "../../../src/store/lifecycle/remove.ts";
import { type Home } from "../../../src/store/home.ts";
import { chooseSessions } from "../../../src/store/lifecycle/remove.ts";
import { removeSession } from "../../../src/store/lifecycle/remove.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { type Operation, spyFiles, systemError } from "./spy_files.ts";
import { ID, newSession, newWriter, portsOn, testPorts, userDraft, withHome } from "./support.ts";

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

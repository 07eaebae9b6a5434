/** A session's directory that is moved away or replaced while a writer has it open. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { Home } from "../../../src/store/home.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { readSession } from "../../../src/store/read/session.ts";
import type { SessionWriter } from "../../../src/store/write/writer.ts";
import { type Operation, spyFiles } from "./spy_files.ts";
import { appendRun, endDraft, ID, newWriter, portsOn, testPorts, userDraft, withHome } from "./support.ts";
import { exported, imported } from "./transfer_support.ts";

const DIVERGED = { code: "session_diverged", exitCode: 5 };

/** An export of the session with its first run, to import under the name that becomes free. */
async function firstRun(home: Home): Promise<string> {
  const writer = await newWriter(testPorts(), home);
  appendRun(writer);
  writer.close();
  const text = exported(home).join("\n") + "\n";
  Deno.removeSync(`${home.sessions}/${ID}`, { recursive: true });
  return text;
}

/** Ways to replace the directory of an open session. */
const REPLACE: Readonly<Record<string, (home: Home, other: string) => Promise<unknown>>> = {
  "moved away, and another imported under its name": (home, other) => {
    Deno.renameSync(`${home.sessions}/${ID}`, `${home.path}/moved`);
    return imported(home, other);
  },
  // The file system reuses the inode numbers of removed directories.
  "removed, and another imported under its name": (home, other) => {
    Deno.removeSync(`${home.sessions}/${ID}`, { recursive: true });
    return imported(home, other);
  },
  "moved away, with nothing in its place": (home) => {
    Deno.renameSync(`${home.sessions}/${ID}`, `${home.path}/moved`);
    return Promise.resolve();
  },
};

/** Names, sizes and contents below a directory, without the lock. */
function listing(root: string): string[] {
  const found: string[] = [];
  const visit = (directory: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(directory)) {
      const path = `${directory}/${name}`;
      if (isDirectory) visit(path);
      else if (name !== "lock") found.push(`${path} ${sha256Hex(Deno.readFileSync(path))}`);
    }
  };
  if (testPorts().files.facts(root) !== null) visit(root);
  return found.sort();
}

for (const [how, replace] of Object.entries(REPLACE)) {
  Deno.test(`a writer whose session was ${how} stops as diverged and writes nothing there`, () =>
    withHome(async (home) => {
      const other = await firstRun(home);
      const writer = await newWriter(testPorts(), home);
      appendRun(writer);
      await replace(home, other);
      const before = listing(home.sessions);
      assert.throws(() => writer.append(userDraft("go on", 2)), {
        ...DIVERGED,
        message: /its directory was moved or replaced .*nothing was written to the one/,
      });
      assert.throws(() => writer.append(userDraft("go on", 2)), { ...DIVERGED, message: /has stopped/ });
      assert.throws(() => writer.putBlob(new TextEncoder().encode("large")), DIVERGED);
      writer.close();
      assert.deepEqual(listing(home.sessions), before);
    }));

  Deno.test(`a writer whose session was ${how} keeps no blob there`, () =>
    withHome(async (home) => {
      const other = await firstRun(home);
      const writer = await newWriter(testPorts(), home);
      appendRun(writer);
      await replace(home, other);
      const before = listing(home.sessions);
      assert.throws(() => writer.putBlob(new TextEncoder().encode("large")), DIVERGED);
      writer.close();
      assert.deepEqual(listing(home.sessions), before);
    }));
}

/** Ways to replace the directory `blobs/` of an open session. */
const REPLACE_BLOBS: Readonly<Record<string, (blobs: string) => void>> = {
  "another one": (blobs) => {
    Deno.renameSync(blobs, `${blobs}-away`);
    Deno.mkdirSync(blobs, { mode: 0o700 });
  },
  nothing: (blobs) => Deno.renameSync(blobs, `${blobs}-away`),
};

for (const [what, replace] of Object.entries(REPLACE_BLOBS)) {
  Deno.test(`a writer that finds ${what} instead of blobs/ stops as diverged, with the session whole once it is back`, () =>
    withHome(async (home) => {
      const writer = await newWriter(testPorts(), home);
      appendRun(writer);
      const blobs = `${writer.path}/blobs`;
      replace(blobs);
      const before = listing(home.sessions);
      assert.throws(() => writer.append(userDraft("go on", 2)), {
        ...DIVERGED,
        message: /its blobs\/ was moved or replaced while it was open/,
      });
      assert.throws(() => writer.putBlob(new TextEncoder().encode("large")), DIVERGED);
      writer.close();
      assert.deepEqual(listing(home.sessions), before);
      if (what !== "nothing") Deno.removeSync(blobs);
      Deno.renameSync(`${blobs}-away`, blobs);
      assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
    }));

  Deno.test(`a writer that finds ${what} instead of blobs/ writes no blob there`, () =>
    withHome(async (home) => {
      const writer = await newWriter(testPorts(), home);
      appendRun(writer);
      replace(`${writer.path}/blobs`);
      const before = listing(home.sessions);
      assert.throws(() => writer.putBlob(new TextEncoder().encode("large")), DIVERGED);
      writer.close();
      assert.deepEqual(listing(home.sessions), before);
    }));
}

Deno.test("whichever operation of an append a replacement comes before, the session that takes the name is not changed", () =>
  withHome(async (home) => {
    const other = await firstRun(home);
    await imported(home, other);
    Deno.renameSync(`${home.sessions}/${ID}`, `${home.path}/other`);
    const untouched = listing(`${home.path}/other`).map((line) =>
      line.replace("/other/", `/sessions/${ID}/`)
    );
    let refused = 0;
    for (let at = 1;; at++) {
      let count = Infinity;
      let writer: SessionWriter | null = null;
      const operations: Operation["name"][] = [];
      const swap = (operation: Operation) => {
        operations.push(operation.name);
        if (--count !== 0) return;
        Deno.renameSync(`${home.sessions}/${ID}`, `${home.path}/moved`);
        Deno.renameSync(`${home.path}/other`, `${home.sessions}/${ID}`);
      };
      writer = await newWriter(portsOn(spyFiles(swap)), home);
      appendRun(writer);
      operations.length = 0;
      count = at;
      // Same number as the other session's next turn, so that a link there would succeed.
      try {
        writer.append(userDraft("go on", 2));
      } catch (error) {
        assert.equal((error as { code?: string }).code, "session_diverged", `before operation ${at}`);
        refused++;
      }
      writer.close();
      if (count > 0) {
        assert.ok(refused >= 5, `${refused} of ${operations.length} operations`);
        return;
      }
      assert.deepEqual(listing(`${home.sessions}/${ID}`), untouched, `before operation ${at}`);
      Deno.renameSync(`${home.sessions}/${ID}`, `${home.path}/other`);
      Deno.removeSync(`${home.path}/moved`, { recursive: true });
    }
  }));

Deno.test("a session that was moved away while it was open is whole, and continues after it is moved back", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    appendRun(writer);
    Deno.renameSync(writer.path, `${home.path}/moved`);
    assert.throws(() => writer.append(userDraft("go on", 2)), DIVERGED);
    writer.close();
    Deno.renameSync(`${home.path}/moved`, writer.path);
    assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 5);
  }));

Deno.test("a writer takes one look at its directory for each turn, and one more for the manifest", () =>
  withHome(async (home) => {
    const looks: string[] = [];
    const files = spyFiles(({ name, path }) => {
      if (name === "facts" && path.endsWith("/turns")) looks.push(path);
    });
    const writer = await newWriter(portsOn(files), home);
    writer.append(userDraft("hello"));
    looks.length = 0;
    writer.append(endDraft());
    writer.close();
    assert.equal(looks.length, 2);
  }));

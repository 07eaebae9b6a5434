/** A session's directory that is moved away or replaced while a writer, a fork or a check has it open. */
import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import type { Home } from "../../../src/store/home.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { textsBelow } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { spyFiles } from "./spy_files.ts";
import { appendRun, ID, newSession, newWriter, portsOn, testPorts, userDraft, withHome } from "./support.ts";

const DIVERGED = { code: "session_diverged", exitCode: 5 };
const CHILD = parseSessionId("child");

const pathIn = (home: Home) => `${home.sessions}/${ID}`;

/** Makes a session that is kept beside the others, to take a name that becomes free. */
async function prepareOther(home: Home): Promise<string> {
  await newSession(testPorts(), home);
  const other = `${home.path}/other`;
  Deno.renameSync(pathIn(home), other);
  return other;
}

/** Ways to displace an open session, or its blobs. */
const DISPLACED: Readonly<Record<string, (path: string, other: string) => void>> = {
  "moved away, and replaced by another": (path, other) => {
    Deno.renameSync(path, `${other}-moved`);
    Deno.renameSync(other, path);
  },
  // The file system reuses the inode numbers of removed directories.
  "removed, and replaced by another": (path, other) => {
    Deno.removeSync(path, { recursive: true });
    Deno.renameSync(other, path);
  },
  "moved away": (path, other) => Deno.renameSync(path, `${other}-moved`),
  "left without its blobs": (path) => Deno.renameSync(`${path}/blobs`, `${path}/away`),
  "given other blobs": (path) => {
    Deno.renameSync(`${path}/blobs`, `${path}/away`);
    Deno.mkdirSync(`${path}/blobs`, { mode: 0o700 });
  },
};

for (const [how, displace] of Object.entries(DISPLACED)) {
  for (const first of ["turn", "blob"]) {
    Deno.test(`a writer whose session was ${how} stops as diverged, and writes no ${first} there`, () =>
      withHome(async (home) => {
        const other = await prepareOther(home);
        const writer = await newWriter(testPorts(), home);
        appendRun(writer);
        displace(writer.path, other);
        const before = textsBelow(home.path, "lock");
        const append = () => writer.append(userDraft("go on", 2));
        const put = () => writer.putBlob(new TextEncoder().encode("large"));
        assert.throws(first === "turn" ? append : put, { ...DIVERGED, message: /was moved or replaced/ });
        for (const again of [append, put]) assert.throws(again, { ...DIVERGED, message: /has stopped/ });
        writer.close();
        assert.deepEqual(textsBelow(home.path, "lock"), before);
      }));
  }
}

Deno.test("whichever operation of an append a replacement comes before, the session that takes the name is not changed", () =>
  withHome(async (home) => {
    const other = await prepareOther(home);
    const untouched = textsBelow(other, "lock");
    let refused = 0;
    for (let at = 1;; at++) {
      let count = Infinity;
      const writer = await newWriter(
        portsOn(spyFiles(() => {
          if (--count === 0) DISPLACED["moved away, and replaced by another"]?.(pathIn(home), other);
        })),
        home,
      );
      appendRun(writer);
      count = at;
      // Same number as the other session's next turn, so that a link there would succeed.
      try {
        writer.append(userDraft("go on", 2));
      } catch (error) {
        assert.equal((error as { code?: string }).code, "session_diverged", `before operation ${at}`);
        refused++;
      }
      writer.close();
      if (count > 0) return assert.ok(refused >= 5, `${refused} refused`);
      assert.deepEqual(textsBelow(pathIn(home), "lock"), untouched, `before operation ${at}`);
      Deno.renameSync(pathIn(home), other);
      Deno.removeSync(`${other}-moved`, { recursive: true });
    }
  }));

Deno.test("a parent whose turn is replaced while it is forked leaves no fork", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const plan = planFork(testPorts(), home, { parent: ID });
    Deno.copyFileSync(`${pathIn(home)}/turns/000002.json`, `${home.path}/second`);
    Deno.renameSync(`${home.path}/second`, `${pathIn(home)}/turns/000003.json`);
    await assert.rejects(
      forkSession(testPorts(), home, plan, { id: CHILD, summary: null, usage: NO_USAGE }),
      { code: "session_diverged", message: /turns\/000003.json was replaced or removed/ },
    );
    assert.deepEqual([...Deno.readDirSync(home.sessions)].map(({ name }) => name), [ID]);
  }));

Deno.test("a session that takes the name while a fork is made keeps it", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const files = spyFiles(({ name, to }) => {
      if (name === "rename" && to === `${home.sessions}/${CHILD}`) {
        Deno.mkdirSync(`${to}/turns`, { recursive: true });
      }
    });
    const plan = planFork(testPorts(), home, { parent: ID });
    await assert.rejects(
      forkSession(portsOn(files), home, plan, { id: CHILD, summary: null, usage: NO_USAGE }),
      { code: "session_exists" },
    );
    assert.deepEqual([...Deno.readDirSync(`${home.sessions}/${CHILD}`)].map(({ name }) => name), ["turns"]);
  }));

for (const how of ["removed", "replaced"]) {
  test.long(`a session that is ${how} while fsck checks it is reported as gone, whenever that happens`, () =>
    withHome(async (home) => {
      for (let at = 1, done = false; !done; at++) {
        const { path } = await newSession(portsOn(spyFiles(() => {}, { syncs: false })), home);
        let count = 0;
        const files = spyFiles(() => {
          if (++count !== at) return;
          Deno.renameSync(path, `${home.path}/away`);
          if (how === "replaced") Deno.mkdirSync(path, { mode: 0o700 });
        });
        const outcome = await fsckSession(portsOn(files), home, ID).catch((error) => error);
        done = count < at;
        if (done) assert.deepEqual(outcome.findings, []);
        else if (at > 1) assert.equal(outcome.code, "no_such_session", `before operation ${at}: ${outcome}`);
        for (const left of [path, `${home.path}/away`]) {
          if (testPorts().files.facts(left) !== null) Deno.removeSync(left, { recursive: true });
        }
        assert.ok(done || at < 200);
      }
    }));
}

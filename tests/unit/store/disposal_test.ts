/** rm, prune and gc: what they delete, what they leave, and how an interruption is finished. */
import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { parseSessionId, type SessionId } from "../../../src/domain/ids.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { collectGarbage } from "../../../src/store/lifecycle/remove.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { chooseSessions } from "../../../src/store/lifecycle/remove.ts";
import { readBlob, readSession } from "../../../src/store/read/session.ts";
import { removeSession } from "../../../src/store/lifecycle/remove.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { Staging } from "../../../src/store/lifecycle/staging.ts";
import { lacksMount, overlayOptions, withMount } from "../../support/mounts.ts";
import { spyFiles, systemError } from "./spy_files.ts";
import {
  appendRun,
  ID,
  INSTRUCTIONS,
  newSession,
  newWriter,
  portsOn,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";
import { needing } from "../../support/needs.ts";

const CHILD = parseSessionId("child");

async function fork(home: Home, parent: SessionId, id: SessionId): Promise<void> {
  const plan = planFork(testPorts(), home, { parent });
  await forkSession(testPorts(), home, plan, { id, summary: null, usage: NO_USAGE });
}

function names(home: Home): string[] {
  return [...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort();
}

Deno.test("rm leaves nothing of a session, and its forks open, verify and keep their blobs", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await fork(home, ID, CHILD);
    await removeSession(testPorts(), home, ID);
    assert.deepEqual(names(home), ["child"]);
    assert.deepEqual((await fsckSession(testPorts(), home, CHILD)).findings, []);
    assert.deepEqual(readBlob(testPorts(), home, CHILD, sha256Hex(INSTRUCTIONS)), INSTRUCTIONS);
    const writer = await SessionWriter.open(testPorts(), home, { id: CHILD });
    writer.close();
  }));

Deno.test("rm of a session that is written to is refused, and deletes nothing", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    await assert.rejects(removeSession(testPorts(), home, ID), { code: "session_locked", exitCode: 5 });
    writer.close();
    assert.equal(readSession(testPorts(), home, ID).turns.length, 1);
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

Deno.test("rm removes links inside a session and never what they lead to", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    Deno.mkdirSync(`${root}/precious`);
    Deno.writeTextFileSync(`${root}/precious/file`, "precious");
    Deno.symlinkSync(`${root}/precious`, `${home.sessions}/${ID}/blobs/link`);
    Deno.symlinkSync(`${root}/precious/file`, `${home.sessions}/${ID}/turns/000009.json`);
    await removeSession(testPorts(), home, ID);
    assert.equal(Deno.readTextFileSync(`${root}/precious/file`), "precious");
    Deno.symlinkSync(`${root}/precious`, `${home.sessions}/${CHILD}`);
    await assert.rejects(removeSession(testPorts(), home, CHILD), { code: "session_damaged" });
    assert.equal(Deno.readTextFileSync(`${root}/precious/file`), "precious");
  }));

test.long("rm that is stopped before any of its file operations leaves the session whole or out of view, and gc finishes it", () =>
  withHome(async (home) => {
    for (let at = 1;; at++) {
      if (!names(home).includes(ID)) await newSession(testPorts(), home);
      let count = 0;
      const files = spyFiles(() => {
        if (++count >= at) throw Object.assign(new Error("stopped"), { code: "EIO" });
      });
      let whole = false;
      try {
        await removeSession(portsOn(files), home, ID);
        whole = true;
      } catch (error) {
        assert.match(String((error as { code?: string }).code), /^storage_/, String(error));
      }
      if (names(home).includes(ID)) {
        assert.ok(!whole);
        assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
      }
      const { skipped } = await collectGarbage(testPorts(), home, { dryRun: false });
      assert.deepEqual(skipped, []);
      assert.deepEqual(names(home).filter((name) => name.startsWith(".")), []);
      if (whole) return assert.ok(at > 20, String(at));
    }
  }));

Deno.test("gc removes blobs that no turn names, temporary files, begun sessions and half-made ones, and nothing else", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    const unnamed = writer.putBlob(new TextEncoder().encode("no turn names this"));
    writer.append(userDraft("hello"));
    const quarantined = writer.putBlob(new TextEncoder().encode("only a quarantined turn names this"));
    const waiting = writer.putBlob(
      new TextEncoder().encode("only a turn that waits for a remote names this"),
    );
    writer.close();
    const path = `${home.sessions}/${ID}`;
    Deno.mkdirSync(`${path}/quarantine`, { mode: 0o700 });
    Deno.writeTextFileSync(`${path}/quarantine/000002.json.diverged-00`, `{"blob":"${quarantined.sha256}"}`);
    Deno.mkdirSync(`${path}/pending`, { mode: 0o700 });
    Deno.writeTextFileSync(`${path}/pending/000002.json`, `{"blob":"${waiting.sha256}"}`);
    Deno.writeTextFileSync(`${path}/.tmp-1-abc`, "half");
    Deno.writeTextFileSync(`${path}/blobs/notes.txt`, "mine");
    // A creation that was killed before turn 1, and one that was killed while it was staged.
    (await newWriter(testPorts(), home, CHILD)).close();
    Deno.mkdirSync(`${home.sessions}/.new-1-abc`);
    Deno.writeTextFileSync(`${home.sessions}/.new-1-abc/lock`, "");
    Deno.mkdirSync(`${home.sessions}/.removed-2-abc`);
    Deno.mkdirSync(`${home.sessions}/.other`);
    const expected = [
      { kind: "half_made", path: ".new-1-abc" },
      { kind: "half_removed", path: ".removed-2-abc" },
      { kind: "begun_session", path: "child" },
      { kind: "temporary", path: `${ID}/.tmp-1-abc` },
      { kind: "blob", path: `${ID}/blobs/${unnamed.sha256}` },
    ];
    const before = names(home);
    const dry = await collectGarbage(testPorts(), home, { dryRun: true });
    assert.deepEqual(dry, { removed: expected, skipped: [] });
    assert.deepEqual(names(home), before);
    assert.ok(Deno.statSync(`${path}/blobs/${unnamed.sha256}`).isFile);
    assert.deepEqual(await collectGarbage(testPorts(), home, { dryRun: false }), dry);
    assert.deepEqual(names(home), [".other", ID]);
    for (const { sha256 } of [quarantined, waiting]) {
      assert.ok(Deno.statSync(`${path}/blobs/${sha256}`).isFile);
    }
    assert.ok(Deno.statSync(`${path}/blobs/notes.txt`).isFile);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 1);
    assert.deepEqual(await collectGarbage(testPorts(), home, { dryRun: false }), {
      removed: [],
      skipped: [],
    });
  }));

test.long("gc leaves a session in use, a fork being made and a damaged session alone, and names them", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    await newSession(testPorts(), home, CHILD);
    Deno.truncateSync(`${home.sessions}/${CHILD}/turns/000002.json`, 10);
    const staging = await Staging.open(testPorts(), home, parseSessionId("new"));
    const before = names(home);
    for (const dryRun of [true, false]) {
      const { removed, skipped } = await collectGarbage(testPorts(), home, { dryRun });
      assert.deepEqual(removed, []);
      assert.deepEqual(skipped.map(({ path }) => path).sort(), before);
    }
    assert.deepEqual(names(home), before);
    staging.discard();
    writer.close();
  }));

test.long("if its directory cannot be renamed, rm removes a session in its place; stopped anywhere, it leaves a whole or a refused session, and a second rm finishes", () =>
  withHome(async (home) => {
    const open = async () => {
      const writer = await SessionWriter.open(testPorts(), home, { id: ID });
      writer.close();
      return writer.turns.length;
    };
    const quick = portsOn(spyFiles(() => {}, { syncs: false }));
    for (const manifest of ["kept", "lost"]) {
      let refused = 0;
      for (let at = 1, done = false; !done; at++) {
        if (!names(home).includes(ID)) await newSession(quick, home);
        if (manifest === "lost") Deno.removeSync(`${home.sessions}/${ID}/manifest.json`);
        let count = 0;
        const files = spyFiles(({ name }) => {
          if (name === "rename") throw systemError("EXDEV");
          if (++count >= at) throw new Deno.errors.Interrupted("stopped");
        });
        done = await removeSession(portsOn(files), home, ID).then(() => true, () => false);
        if (names(home).includes(ID)) {
          const found = await open().catch((error) => error);
          const { findings } = await fsckSession(testPorts(), home, ID).catch(() => ({ findings: [] }));
          if (found === 5) assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
          else {
            refused++;
            // Without turns and manifest it looks like a creation that was cut short.
            assert.ok(["session_damaged", "no_such_session"].includes(found.code), `${at}: ${found}`);
          }
          await removeSession(testPorts(), home, ID);
        }
        assert.deepEqual(names(home), [], `before operation ${at}`);
        assert.ok(at < 200, "it never ends");
      }
      assert.ok(refused >= 10, `${refused} with the manifest ${manifest}`);
    }
  }));

test.long(
  needing(
    "rm, prune and gc remove sessions of an overlay's lower layer, whose directories cannot be renamed",
    await lacksMount("overlay"),
  ),
  async () => {
    const root = await Deno.makeTempDir({ prefix: "reprise-overlay-" });
    try {
      for (const name of ["upper", "work", "at"]) Deno.mkdirSync(`${root}/${name}`);
      const lower = openHome(testPorts(), `${root}/lower`, { create: true });
      for (const id of [ID, CHILD]) await newSession(testPorts(), lower, id);
      (await newWriter(testPorts(), lower, parseSessionId("begun"))).close();
      await withMount(`${root}/at`, { type: "overlay", options: overlayOptions(root) }, async () => {
        const home = openHome(testPorts(), `${root}/at`);
        const rename = () => Deno.renameSync(`${home.sessions}/${ID}`, `${home.sessions}/.other`);
        assert.throws(rename, { code: "EXDEV" });
        await removeSession(testPorts(), home, ID);
        assert.deepEqual((await collectGarbage(testPorts(), home, { dryRun: false })).skipped, []);
        assert.deepEqual(names(home), ["child"]);
        const [doomed] = chooseSessions(testPorts(), home, { keep: 0 });
        await removeSession(testPorts(), home, doomed?.id as SessionId);
        assert.deepEqual(names(home), []);
      });
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
);

test.long(
  needing(
    "a writer continues a session of an overlay's lower layer, which the first write copies up",
    await lacksMount("overlay"),
  ),
  async () => {
    const root = await Deno.makeTempDir({ prefix: "reprise-overlay-" });
    try {
      for (const name of ["upper", "work", "at"]) Deno.mkdirSync(`${root}/${name}`);
      await newSession(testPorts(), openHome(testPorts(), `${root}/lower`, { create: true }));
      await withMount(`${root}/at`, { type: "overlay", options: overlayOptions(root) }, async () => {
        const home = openHome(testPorts(), `${root}/at`);
        const writer = await SessionWriter.open(testPorts(), home, { id: ID });
        for (let run = 2; run < 6; run++) appendRun(writer, run);
        writer.close();
        assert.equal(readSession(testPorts(), home, ID).turns.length, 25);
      });
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
);

/** Sessions one day apart, the newest last; each with its own blob of 1,000 bytes. */
async function aged(home: Home, ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const now = Date.UTC(2026, 0, 1 + index);
    const writer = await newWriter(
      testPorts({ clock: { ...testPorts().clock, now: () => now } }),
      home,
      parseSessionId(id),
    );
    writer.putBlob(new Uint8Array(1000).fill(index));
    writer.append(userDraft("hello".repeat(4000)));
    writer.close();
  }
}

Deno.test("a choice names the oldest by age, number and size, oldest first, and never one whose age it cannot tell", () =>
  withHome(async (home) => {
    await aged(home, ["a", "b", "c", "d"]);
    const now = Date.UTC(2026, 0, 4, 12);
    const ports = testPorts({ clock: { ...testPorts().clock, now: () => now } });
    Deno.mkdirSync(`${home.sessions}/undated`);
    const plan = (rules: Parameters<typeof chooseSessions>[2]) =>
      chooseSessions(ports, home, rules).map(({ id, why }) => `${id} ${why}`);
    const day = 86_400_000;
    assert.deepEqual(plan({ olderThanMs: 2 * day }), ["a age", "b age"]);
    assert.deepEqual(plan({ olderThanMs: 0 }), ["a age", "b age", "c age", "d age"]);
    assert.deepEqual(plan({ keep: 3 }), ["a number"]);
    assert.deepEqual(plan({ keep: 0 }).length, 4);
    const [oldest] = chooseSessions(ports, home, { keep: 3 });
    assert.deepEqual(plan({ largerThan: oldest?.bytes }), []);
    assert.equal(plan({ largerThan: (oldest?.bytes ?? 0) - 1 })[0], "a size");
    assert.deepEqual(plan({ olderThanMs: 3 * day, keep: 2 }), ["a age", "b number"]);
    assert.deepEqual(plan({}), []);
  }));

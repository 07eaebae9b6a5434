/** The order of a put, and what a killed or unlucky writer leaves. */
import assert from "node:assert/strict";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { sessionPaths } from "../../../src/store/layout.ts";
import { attachSession } from "../../../src/remote/attach.ts";
import { turnKey } from "../../../src/remote/keys.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { MemoryStore } from "../../support/memory_store.ts";
import { endDraft, ID, testPorts, userDraft } from "../store/support.ts";
import { createOn, filesUntil, openOn, saveRun, withTwoHomes } from "./support.ts";
import { test } from "../../support/test.ts";

function namesIn(path: string): string[] {
  try {
    return [...Deno.readDirSync(path)].map(({ name }) => name).sort();
  } catch {
    return [];
  }
}

Deno.test("blobs are put before their turn, and the turn is pending until the remote has it", () =>
  withTwoHomes(async (home) => {
    const store = new MemoryStore();
    const { pending, turns } = sessionPaths(home.sessions, ID);
    store.beforePut = (key) => {
      if (!key.includes("/turns/")) return;
      assert.deepEqual(namesIn(pending), ["000001.json"]);
      assert.deepEqual(namesIn(turns), []);
    };
    const writer = await createOn(store, home);
    const { sum } = await writer.save(userDraft("first"));
    writer.close();
    const [one, two, turn] = store.puts;
    assert.match(`${one} ${two}`, /^\S+\/blobs\/\w+ \S+\/blobs\/\w+$/);
    assert.equal(turn, turnKey(ID, 1));
    assert.deepEqual(namesIn(pending), []);
    assert.deepEqual(namesIn(turns), ["000001.json"]);
    assert.equal(readSession(testPorts(), home, ID).turns[0]?.sum, sum);
    assert.deepEqual(store.objects.get(turnKey(ID, 1)), Deno.readFileSync(`${turns}/000001.json`));
  }));

/** Creates a session of two turns on the remote, and leaves the third one in `pending/`. */
async function leaveWaiting(store: MemoryStore, home: Home): Promise<void> {
  const writer = await createOn(store, home);
  await saveRun(writer, 1);
  store.isDown = true;
  await assert.rejects(writer.save(userDraft("waits", 2)), { code: "remote_unreachable" });
  await assert.rejects(writer.save(userDraft("not tried", 2)), { code: "remote_unreachable" });
  writer.close();
  store.isDown = false;
}

Deno.test("turns that another writer of this home added meanwhile leave no gap on the remote", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const before = await createOn(store, home);
    await saveRun(before, 1);
    before.close();
    const remote = await attachSession(testPorts(), home, store, { id: ID, takeOver: true });
    const alone = await SessionWriter.open(testPorts(), home, { id: ID });
    alone.append(userDraft("alone", 2));
    alone.append(endDraft(2));
    alone.close();
    const writer = await SessionWriter.open(testPorts(), home, { id: ID, remote });
    await assert.rejects(writer.save(userDraft("late", 3)), {
      code: "session_diverged",
      message: /no turn 4/,
    });
    writer.close();
    assert.equal(store.objects.has(turnKey(ID, 5)), false);
    const next = await openOn(store, home);
    assert.equal(next.end.turn, 5);
    next.close();
    (await openOn(store, other)).close();
    assert.equal(readSession(testPorts(), other, ID).turns.length, 5);
  }));

for (const when of ["before", "after"] as const) {
  Deno.test(`a put whose answer is lost ${when} the store took it is found out, and saved once`, () =>
    withTwoHomes(async (home, other) => {
      const store = new MemoryStore();
      const writer = await createOn(store, home);
      store.faults.push({ part: "/turns/000001", when }, { part: "/blobs/", when });
      const sums = await saveRun(writer, 1);
      writer.close();
      assert.equal(store.puts.filter((key) => key.includes("/turns/")).length, 2);
      (await openOn(store, other)).close();
      assert.deepEqual(readSession(testPorts(), other, ID).turns.map(({ sum }) => sum), sums);
    }));
}

Deno.test("after another turn got the number, the session has diverged and the late turn is in quarantine", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    await saveRun(writer, 1);
    const rival = await openOn(store, other);
    const [won] = await saveRun(rival, 2);
    rival.close();
    await assert.rejects(writer.save(userDraft("late", 2)), { code: "session_diverged" });
    await assert.rejects(writer.save(userDraft("later", 2)), { code: "session_diverged" });
    writer.close();
    const paths = sessionPaths(home.sessions, ID);
    assert.match(namesIn(paths.quarantine).join(), /^000003\.json\.diverged-/);
    assert.deepEqual(namesIn(paths.pending), []);
    (await openOn(store, home)).close();
    assert.equal(readSession(testPorts(), home, ID).turns[2]?.sum, won);
  }));

Deno.test("without an answer the turn waits, and the next writer with the remote decides about it", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    await leaveWaiting(store, home);
    store.isDown = true;
    const paths = sessionPaths(home.sessions, ID);
    assert.deepEqual(namesIn(paths.pending), ["000003.json"]);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 2);
    await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), { code: "bad_remote" });
    const report = await fsckSession(testPorts(), home, ID);
    assert.deepEqual(report.findings.map(({ code }) => code), ["waiting_turn"]);
    store.isDown = false;
    const next = await openOn(store, home);
    assert.deepEqual([next.end.turn, namesIn(paths.pending)], [3, []]);
    next.close();
    (await openOn(store, other)).close();
    assert.equal(readSession(testPorts(), other, ID).turns.length, 3);
  }));

Deno.test("a waiting turn whose number another home took goes to quarantine", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    await leaveWaiting(store, home);
    const rival = await openOn(store, other);
    await saveRun(rival, 2);
    rival.close();
    const next = await openOn(store, home);
    assert.equal(next.end.turn, 4);
    next.close();
    const paths = sessionPaths(home.sessions, ID);
    assert.deepEqual(namesIn(paths.pending), []);
    assert.match(namesIn(paths.quarantine).join(), /^000003\.json\.diverged-/);
  }));

test.long("a writer killed at any change of a file loses no acknowledged turn and takes no number twice", async () => {
  for (let at = 1, survived = false; !survived; at++) {
    const killed = async (home: Home, other: Home, comesBack: boolean) => {
      const store = new MemoryStore();
      const before = await createOn(store, other);
      const acknowledged = await saveRun(before, 1);
      before.close();
      const { files } = filesUntil(at);
      let writer: SessionWriter | null = null;
      try {
        writer = await openOn(store, home, { ports: testPorts({ files }) });
        acknowledged.push((await writer.save(userDraft("killed", 2))).sum);
        acknowledged.push((await writer.save(endDraft(2))).sum);
        survived = true;
      } catch {
        /* killed */
      } finally {
        // Releases the lock, as the system does; no file changes any more.
        writer?.close();
      }
      // Its own run is open to it at once, whatever it had done.
      for (let times = comesBack ? 2 : 0; times > 0; times--) {
        (await openOn(store, home, { takeOver: false })).close();
      }
      const rival = await openOn(store, other);
      const run = rival.end.runEnded ? rival.end.run + 1 : rival.end.run;
      await rival.save(rival.end.runEnded ? userDraft("rival", run) : endDraft(run));
      rival.close();
      (await openOn(store, home)).close();
      const [ours, theirs] = [home, other].map((each) =>
        readSession(testPorts(), each, ID).turns.map(({ sum }) => sum)
      );
      assert.deepEqual(ours, theirs, `killed at change ${at}`);
      assert.deepEqual(ours?.slice(0, acknowledged.length), acknowledged, `killed at change ${at}`);
      const { findings } = await fsckSession(testPorts(), home, ID);
      assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
    };
    await withTwoHomes((home, other) => killed(home, other, false));
    await withTwoHomes((home, other) => killed(home, other, true));
    assert.ok(at < 200, "the writer is killed for ever");
  }
});

/** Removals while another writer puts objects of the session. */
import assert from "node:assert/strict";
import { removedKey, sessionPrefix, turnKey } from "../../../src/remote/keys.ts";
import { pushTurns } from "../../../src/remote/push.ts";
import { removeRemotely } from "../../../src/remote/remove.ts";
import { SessionRemote } from "../../../src/remote/session_remote.ts";
import type { Home } from "../../../src/store/home.ts";
import { sessionPaths } from "../../../src/store/layout.ts";
import { lastTurnOf } from "../../../src/store/read/session.ts";
import { MemoryStore } from "../../support/memory_store.ts";
import { ID, newWriter, testPorts } from "../store/support.ts";
import { createOn, saveRun, withTwoHomes } from "./support.ts";

const AT = "2026-11-21T20:18:00.000Z";

async function pushAll(store: MemoryStore, home: Home): Promise<void> {
  const paths = sessionPaths(home.sessions, ID);
  const last = lastTurnOf(testPorts(), paths);
  await pushTurns(testPorts(), new SessionRemote(store, ID), { paths, common: 0, last });
}

async function sessionHere(home: Home, runs: number): Promise<void> {
  const writer = await newWriter(testPorts(), home);
  for (let run = 1; run <= runs; run++) await saveRun(writer, run);
  writer.close();
}

Deno.test("a removal takes what was put between its list and its tombstone", () =>
  withTwoHomes(async (home) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    await saveRun(writer, 1);
    writer.close();
    store.beforePut = (key) => {
      if (key === removedKey(ID)) store.objects.set(turnKey(ID, 9), new Uint8Array([1]));
    };
    const before = store.objects.size;
    assert.equal(await removeRemotely(store, ID, { at: AT }), before + 1);
    assert.deepEqual([...store.objects.keys()], [removedKey(ID)]);
  }));

Deno.test("a removal reports a writer that never stops", () =>
  withTwoHomes(async (home) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    await saveRun(writer, 1);
    writer.close();
    const remove = store.remove.bind(store);
    store.remove = async (key) => {
      await remove(key);
      store.objects.set(turnKey(ID, 9), new Uint8Array([1]));
    };
    await assert.rejects(removeRemotely(store, ID, { at: AT }), {
      code: "session_open_elsewhere",
      message: /a writer keeps putting/,
    });
  }));

for (const [when, at] of [["in the middle", 3], ["before its last turn", 41]] as const) {
  Deno.test(`a push during which the session is removed, ${when}, ends and leaves nothing`, () =>
    withTwoHomes(async (home) => {
      const store = new MemoryStore();
      await sessionHere(home, 20);
      const last = lastTurnOf(testPorts(), sessionPaths(home.sessions, ID));
      let turns = 0;
      store.beforePut = (key) => {
        if (key.startsWith(`${sessionPrefix(ID)}turns/`)) turns++;
        if (key !== turnKey(ID, Math.min(at, last))) return;
        for (const each of [...store.objects.keys()]) store.objects.delete(each);
        store.objects.set(removedKey(ID), new TextEncoder().encode("{}\n"));
      };
      await assert.rejects(pushAll(store, home), { code: "session_removed" });
      assert.deepEqual([...store.objects.keys()], [removedKey(ID)]);
      if (at === 3) assert.ok(turns <= 16, `${turns} turns of ${last}`);
    }));
}

/** Sessions that are longer here, longer there, different, removed or open elsewhere; and what a fetch refuses. */
import assert from "node:assert/strict";
import { encodeTurn, type TurnDraft } from "../../../src/domain/turn.ts";
import type { EventDraft } from "../../../src/domain/event.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { attachSession, requireUnusedRemotely } from "../../../src/remote/attach.ts";
import { removedKey, turnKey } from "../../../src/remote/keys.ts";
import { SessionRemote } from "../../../src/remote/session_remote.ts";
import { standingOf } from "../../../src/remote/standing.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { sessionPaths } from "../../../src/store/layout.ts";
import { lastTurnOf, readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { MemoryStore } from "../../support/memory_store.ts";
import {
  call,
  endDraft,
  ID,
  modelDraft,
  newWriter,
  putPinned,
  result,
  testPorts,
  userDraft,
} from "../store/support.ts";
import { createOn, openOn, saveRun, withTwoHomes } from "./support.ts";
import { test } from "../../support/test.ts";

const MINUTE_MS = 60_000;

function standing(store: MemoryStore, home: Home) {
  const paths = sessionPaths(home.sessions, ID);
  return standingOf(testPorts(), store, { paths, last: lastTurnOf(testPorts(), paths) });
}

/** Without a manifest, which names the newest turn, a missing turn is no damage. */
function forgetManifest(home: Home): void {
  try {
    Deno.removeSync(`${home.sessions}/${ID}/manifest.json`);
  } catch { /* Only writers keep one. */ }
}

async function runsOn(store: MemoryStore, home: Home, count: number): Promise<void> {
  const writer = await createOn(store, home);
  for (let run = 1; run <= count; run++) await saveRun(writer, run);
  writer.close();
}

Deno.test("a session is compared with its copy by its last turns, and the parting turn is found", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    assert.deepEqual(await standing(store, home), { state: "same", turns: 0 });
    await runsOn(store, home, 3);
    assert.deepEqual(await standing(store, home), { state: "same", turns: 6 });
    assert.deepEqual(await standing(store, other), { state: "longer_there", common: 0, last: 6 });
    const { turns } = sessionPaths(home.sessions, ID);
    Deno.removeSync(`${turns}/000006.json`);
    Deno.removeSync(`${turns}/000005.json`);
    forgetManifest(home);
    assert.deepEqual(await standing(store, home), { state: "longer_there", common: 4, last: 6 });
    (await openOn(store, home)).close();
    for (const number of [5, 6]) {
      Deno.removeSync(`${turns}/00000${number}.json`);
      store.objects.delete(turnKey(ID, number));
    }
    forgetManifest(home);
    store.objects.delete(turnKey(ID, 4));
    assert.deepEqual(await standing(store, home), { state: "longer_here", common: 3, last: 4 });
    (await openOn(store, home)).close();
    Deno.removeSync(`${turns}/000004.json`);
    forgetManifest(home);
    const alone = await SessionWriter.open(testPorts(), home, { id: ID });
    alone.append(endDraft(2));
    alone.append(userDraft("another way", 3));
    alone.close();
    assert.deepEqual(await standing(store, home), { state: "diverged", parts: 4, here: 5, there: 4 });
    const before = [...store.objects.keys()];
    await assert.rejects(attachSession(testPorts(), home, store, { id: ID, takeOver: true }), {
      code: "session_diverged",
      message: /from turn 4 on/,
    });
    assert.deepEqual([...store.objects.keys()], before);
    assert.equal(lastTurnOf(testPorts(), sessionPaths(home.sessions, ID)), 5);
  }));

Deno.test("a session that was begun without the remote is put there before its next turn", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("alone"));
    writer.append(endDraft());
    writer.close();
    const next = await openOn(store, home);
    await saveRun(next, 2);
    next.close();
    (await openOn(store, other)).close();
    const sums = [home, other].map((each) => readSession(testPorts(), each, ID).turns.map(({ sum }) => sum));
    assert.deepEqual(sums[0], sums[1]);
    assert.equal(sums[0]?.length, 4);
  }));

Deno.test("an interrupted fetch leaves a shorter session, which the next one continues", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    await runsOn(store, home, 20);
    const get = store.get.bind(store);
    store.get = (key) => key === turnKey(ID, 30) ? Promise.reject(new Error("the process ends")) : get(key);
    await assert.rejects(openOn(store, other));
    assert.equal(lastTurnOf(testPorts(), sessionPaths(other.sessions, ID)), 29);
    assert.equal(readSession(testPorts(), other, ID).turns.length, 29);
    store.get = get;
    (await openOn(store, other)).close();
    assert.equal(readSession(testPorts(), other, ID).turns.length, 40);
  }));

test.long("a fetch loads turns and their blobs side by side, at most 16, and each blob once", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    const encoder = new TextEncoder();
    for (let run = 1; run <= 30; run++) {
      putPinned(writer);
      await writer.save(userDraft(`run ${run}`, run));
      const model = await writer.save(modelDraft([call(`call_${run}`)], run));
      const blob = writer.putBlob(encoder.encode(`output ${run}`));
      const event = { ...result(`call_${run}`, model.seq[0]), blob } as EventDraft;
      await writer.save({ kind: "tools", run, events: [event] });
      await writer.save(endDraft(run));
    }
    writer.close();
    const get = store.get.bind(store);
    const blobs: string[] = [];
    const now = { all: 0, blobs: 0 };
    const most = { ...now };
    store.get = async (key) => {
      const count = key.includes("/blobs/") ? 1 : 0;
      if (count === 1) blobs.push(key);
      most.all = Math.max(most.all, now.all += 1);
      most.blobs = Math.max(most.blobs, now.blobs += count);
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      now.all -= 1;
      now.blobs -= count;
      return await get(key);
    };
    (await openOn(store, other)).close();
    assert.ok(most.all <= 16 && most.blobs > 1, JSON.stringify(most));
    assert.deepEqual([blobs.length, new Set(blobs).size], [32, 32]);
    const { findings } = await fsckSession(testPorts(), other, ID);
    assert.deepEqual(findings, []);
  }));

Deno.test("a fetch loads large blobs one at a time", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    for (let run = 1; run <= 4; run++) {
      putPinned(writer);
      await writer.save(userDraft(`run ${run}`, run));
      const model = await writer.save(modelDraft([call(`call_${run}`)], run));
      const blob = writer.putBlob(new Uint8Array(1024 * 1024 + run));
      const event = { ...result(`call_${run}`, model.seq[0]), blob } as EventDraft;
      await writer.save({ kind: "tools", run, events: [event] });
      await writer.save(endDraft(run));
    }
    writer.close();
    const get = store.get.bind(store);
    const now = { large: 0, most: 0, all: 0 };
    store.get = async (key) => {
      const isLarge = (store.objects.get(key)?.length ?? 0) > 1024 * 1024;
      if (isLarge) now.most = Math.max(now.most, now.large += 1);
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      if (isLarge) now.large -= 1;
      if (isLarge) now.all += 1;
      return await get(key);
    };
    (await openOn(store, other)).close();
    assert.deepEqual([now.most, now.all], [1, 4]);
  }));

/** Objects that another program may have put under the key of turn 3, by name. */
const FORGED: readonly (readonly [string, (bytes: Uint8Array, draft: TurnDraft) => Uint8Array])[] = [
  ["a torn file", (bytes) => bytes.subarray(0, bytes.length - 20)],
  ["a changed byte", (bytes) => {
    const changed = bytes.slice();
    changed[200] = (changed[200] as number) ^ 1;
    return changed;
  }],
  ["an empty file", () => new Uint8Array()],
  ["a turn of another chain", (_, draft) => {
    return encodeTurn(draft, {
      session: ID,
      turn: 3,
      firstSeq: 3,
      prev: "0".repeat(64),
      at: "2026-11-21T20:18:00.000Z",
    }).bytes;
  }],
];

for (const [name, forge] of FORGED) {
  Deno.test(`a fetch refuses ${name}, and takes an intact replacement beside it`, () =>
    withTwoHomes(async (home, other) => {
      const store = new MemoryStore();
      await runsOn(store, home, 2);
      const intact = store.objects.get(turnKey(ID, 3)) as Uint8Array;
      store.objects.set(turnKey(ID, 3), forge(intact, userDraft("forged", 2)));
      await assert.rejects(openOn(store, other), { code: "session_damaged", message: /turn 3/ });
      assert.equal(lastTurnOf(testPorts(), sessionPaths(other.sessions, ID)), 2);
      if (name === "a turn of another chain") return;
      store.objects.set(turnKey(ID, 3, 1), intact);
      (await openOn(store, other)).close();
      assert.equal(readSession(testPorts(), other, ID).turns.length, 4);
    }));
}

Deno.test("a fetch refuses a turn of another session, and a blob with other bytes", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const stranger = parseSessionId("stranger-7k2m");
    const writer = await createOn(store, home, { id: stranger });
    await saveRun(writer, 1);
    writer.close();
    for (const [key, bytes] of [...store.objects]) store.objects.set(key.replace(stranger, ID), bytes);
    await assert.rejects(openOn(store, other), { code: "session_damaged", message: /stranger-7k2m/ });
    assert.equal(lastTurnOf(testPorts(), sessionPaths(other.sessions, ID)), 0);

    const forged = new MemoryStore();
    await runsOn(forged, home, 1);
    for (const key of forged.objects.keys()) {
      if (key.includes("/blobs/")) forged.objects.set(key, new TextEncoder().encode("other"));
    }
    const third = { ...other, sessions: `${other.path}/third` };
    await assert.rejects(openOn(forged, third), { code: "session_damaged", message: /other bytes there/ });
  }));

Deno.test("an open run of another home is left alone while its newest turn is younger than 15 minutes by the store's clock", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    await writer.save(userDraft("works"));
    const continued = (each: Home, takeOver = false) => openOn(store, each, { takeOver });
    const elsewhere = { code: "session_open_elsewhere", exitCode: 5, hint: /--take-over/ };
    store.ages.set(turnKey(ID, 1), 14 * MINUTE_MS);
    // Also by the second attempt, which finds the turn here.
    for (let attempt = 1; attempt <= 2; attempt++) {
      await assert.rejects(continued(other), { ...elsewhere, message: /840 seconds ago/ });
    }
    (await continued(other, true)).close();
    store.ages.set(turnKey(ID, 1), 15 * MINUTE_MS);
    (await continued(other)).close();
    writer.close();
    store.ages.clear();
    await assert.rejects(continued(other), elsewhere);
    // Its own run, which this home lost: nothing to wait for, as often as it tries.
    (await continued(home)).close();
    (await continued(home)).close();
  }));

Deno.test("a home that fetched another one's turn does not take its open run for its own", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const elsewhere = { code: "session_open_elsewhere" };
    await runsOn(store, home, 1);
    const first = await openOn(store, other);
    await first.save(userDraft("works", 2));
    await assert.rejects(openOn(store, home, { takeOver: false }), elsewhere);
    await first.save(endDraft(2));
    first.close();
    const mine = await openOn(store, home, { takeOver: false });
    // Its own turn waits, and loses its number.
    store.isDown = true;
    await assert.rejects(mine.save(userDraft("waits", 3)), { code: "remote_unreachable" });
    mine.close();
    store.isDown = false;
    const second = await openOn(store, other);
    await second.save(userDraft("works", 3));
    second.close();
    await assert.rejects(openOn(store, home, { takeOver: false }), elsewhere);
    // Decides about the waiting turn.
    const remote = new SessionRemote(store, ID);
    (await SessionWriter.open(testPorts(), home, { id: ID, remote })).close();
    await assert.rejects(openOn(store, home, { takeOver: false }), elsewhere);
  }));

Deno.test("a turn that a killed save left is this home's, whatever of it was done", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const mine = await createOn(store, home);
    await saveRun(mine, 1);
    await mine.save(userDraft("works", 2));
    const model = await mine.save(modelDraft([call("call_1")], 2));
    mine.close();
    const { pending, turns } = sessionPaths(home.sessions, ID);
    const name = "000004.json";
    const judged = async () => (await openOn(store, home, { takeOver: false })).close();
    // Killed between the link and the removal, and before the link.
    Deno.linkSync(`${turns}/${name}`, `${pending}/${name}`);
    await judged();
    Deno.renameSync(`${turns}/${name}`, `${pending}/${name}`);
    forgetManifest(home);
    await judged();
    await judged();
    // Killed before the put.
    store.objects.delete(turnKey(ID, 4));
    Deno.renameSync(`${turns}/${name}`, `${pending}/${name}`);
    forgetManifest(home);
    await judged();
    await judged();
    const elsewhere = { code: "session_open_elsewhere" };
    await assert.rejects(openOn(store, other, { takeOver: false }), elsewhere);
    // Before the link, and another home followed it: then the newest turn is not this home's.
    Deno.renameSync(`${turns}/${name}`, `${pending}/${name}`);
    forgetManifest(home);
    const theirs = await openOn(store, other);
    await theirs.save({ kind: "tools", run: 2, events: [result("call_1", model.seq[0])] });
    theirs.close();
    await assert.rejects(openOn(store, home, { takeOver: false }), elsewhere);
    const remote = new SessionRemote(store, ID);
    (await SessionWriter.open(testPorts(), home, { id: ID, remote })).close();
    await assert.rejects(openOn(store, home, { takeOver: false }), elsewhere);
  }));

Deno.test("turns that were added here without the remote do not end the open run of another home", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    const writer = await createOn(store, home);
    await writer.save(userDraft("works"));
    (await openOn(store, other)).close();
    const alone = await SessionWriter.open(testPorts(), other, { id: ID });
    alone.append(endDraft());
    alone.close();
    const elsewhere = { code: "session_open_elsewhere", exitCode: 5 };
    await assert.rejects(openOn(store, other, { takeOver: false }), elsewhere);
    assert.equal(store.objects.has(turnKey(ID, 2)), false);
    const { sum } = await writer.save(endDraft());
    writer.close();
    await assert.rejects(openOn(store, other, { takeOver: true }), { code: "session_diverged" });
    assert.equal(readSession(testPorts(), home, ID).turns.at(-1)?.sum, sum);
  }));

Deno.test("a run that was killed without the remote is continued with it at once", () =>
  withTwoHomes(async (home) => {
    const store = new MemoryStore();
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("alone"));
    writer.close();
    (await openOn(store, home, { takeOver: false })).close();
  }));

test.long("a fetch waits for another writer of this home as long as the call says", () =>
  withTwoHomes(async (home, other) => {
    const store = new MemoryStore();
    await runsOn(store, home, 1);
    (await openOn(store, other)).close();
    const ahead = await openOn(store, home);
    await saveRun(ahead, 2);
    ahead.close();
    const local = await SessionWriter.open(testPorts(), other, { id: ID });
    const attach = (waitMs: number) =>
      attachSession(testPorts(), other, store, { id: ID, takeOver: false, waitMs });
    await assert.rejects(attach(0), { code: "session_locked" });
    const waiting = attach(10_000);
    setTimeout(() => local.close(), 50);
    await waiting;
    assert.equal(lastTurnOf(testPorts(), sessionPaths(other.sessions, ID)), 4);
  }));

Deno.test("a removed session takes no more turns, and its id is not used again", () =>
  withTwoHomes(async (home) => {
    const store = new MemoryStore();
    await runsOn(store, home, 1);
    store.objects.set(removedKey(ID), new Uint8Array());
    await assert.rejects(openOn(store, home), { code: "session_removed", exitCode: 2 });
    await assert.rejects(requireUnusedRemotely(store, ID), { code: "session_exists" });
    await assert.rejects(saveAfterRemoval(store, home), { code: "session_removed" });
  }));

async function saveAfterRemoval(store: MemoryStore, home: Home): Promise<void> {
  const id = parseSessionId("late-7k2m");
  const writer = await createOn(store, home, { id });
  store.objects.set(removedKey(id), new Uint8Array());
  try {
    await writer.save(userDraft("late"));
  } finally {
    writer.close();
  }
}

import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { seal } from "../../../src/domain/seal.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { unansweredCalls } from "../../../src/run/recover.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { sessionPaths, turnPath } from "../../../src/store/layout.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { previewRepair, repairSession } from "../../../src/store/repair/repair.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import {
  appendRun,
  endDraft,
  ID,
  INSTRUCTIONS,
  newSession,
  pinsFor,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

const pathOf = (home: Home, turn: number) => turnPath(sessionPaths(home.sessions, ID), turn);
const read = (home: Home) => readSession(testPorts(), home, ID);
const repaired = (home: Home) => repairSession(testPorts(), home, { id: ID, waitMs: 0 });
const kept = (home: Home, name: string) => `${sessionPaths(home.sessions, ID).quarantine}/${name}`;

/** A closed session of five turns with one of them damaged by `damage`. */
async function damaged(body: (home: Home, turns: readonly Turn[]) => Promise<void>): Promise<void> {
  await withHome(async (home) => {
    await newSession(testPorts(), home);
    await body(home, read(home).turns);
  });
}

/** Returns what a request for the model that answered would leave out or add. */
function repairsOf(turns: readonly Turn[]) {
  return foldHistory(turns, {
    fingerprint: { provider: "openai", endpoint: "1f3a9c02", account: null },
    needs: foldNeedsOf("openai"),
    model: "gpt-5.6",
    replay: "exact",
  }).repairs.map(({ seq, kind }) => [seq, kind]);
}

Deno.test("a replacement keeps number, events and run, and the next turn still names the lost one", () =>
  damaged(async (home, before) => {
    Deno.truncateSync(pathOf(home, 3), 100);
    await repaired(home);
    const { turns } = read(home);
    assert.deepEqual(turns[2], {
      ...turns[2],
      kind: "harness",
      turn: 3,
      run: 1,
      seq: [6, 7],
      prev: before[1]?.sum,
      replaces: { sum: before[2]?.sum, seq: [6, 7], reason: "bad_sum" },
      events: [{ seq: 6, type: "turn_replaced" }],
    });
    assert.equal(turns[3]?.prev, before[2]?.sum);
    assert.equal(Deno.statSync(kept(home, "000003.json.repair-1")).size, 100);
  }));

Deno.test("calls whose results are lost are answered in the next request, at their place", () =>
  damaged(async (home) => {
    Deno.removeSync(pathOf(home, 3));
    await repaired(home);
    const { turns } = read(home);
    assert.deepEqual(repairsOf(turns), [[3, "orphan_answered"], [4, "orphan_answered"]]);
    assert.deepEqual(unansweredCalls(turns).map(({ seq }) => seq), [3, 4]);
  }));

Deno.test("results whose calls are lost stay on disk and out of the next request, which says so", () =>
  damaged(async (home) => {
    Deno.writeTextFileSync(pathOf(home, 2), "");
    await repaired(home);
    assert.deepEqual(repairsOf(read(home).turns), [[6, "result_without_call"], [7, "result_without_call"]]);
  }));

Deno.test("if the turn that opened a run is lost, its replacement opens it, with the pins of a neighbour", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    appendRun(writer, 2);
    writer.close();
    for (const turn of [1, 6]) Deno.writeTextFileSync(pathOf(home, turn), "");
    await repaired(home);
    const { turns, manifest } = read(home);
    assert.deepEqual([turns[0], turns[5]].map((turn) => [turn?.run, turn?.events]), [
      [1, [{ seq: 1, type: "run_continued", run: 1 }]],
      [2, [{ seq: 11, type: "run_continued", run: 2 }]],
    ]);
    assert.deepEqual([manifest.run, manifest.state, manifest.pins], [2, "completed", pinsFor()]);
  }));

Deno.test("if only damage is left, repair still leaves a session that opens", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const { root, manifest } = sessionPaths(home.sessions, ID);
    for (const turn of [1, 2, 3, 4, 5]) Deno.writeTextFileSync(pathOf(home, turn), "");
    Deno.removeSync(manifest);
    for (const { name } of Deno.readDirSync(`${root}/blobs`)) Deno.removeSync(`${root}/blobs/${name}`);
    const { openRun } = await repaired(home);
    assert.equal(openRun, 1);
    assert.equal(read(home).turns.length, 5);
    const { findings } = await fsckSession(testPorts(), home, ID);
    assert.deepEqual(findings.filter(({ severity }) => severity !== "info"), []);
  }));

Deno.test("a missing newest turn that the manifest names is refused until repaired; an append never fills the hole", () =>
  damaged(async (home, before) => {
    Deno.removeSync(pathOf(home, 5));
    Deno.removeSync(pathOf(home, 4));
    await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), { code: "session_damaged" });
    const { openRun } = await repaired(home);
    assert.equal(openRun, 1);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    const { turn, seq } = writer.append(endDraft(1));
    writer.close();
    assert.deepEqual([turn, seq], [6, [11, 11]]);
    const fifth = read(home).turns[4];
    assert.equal(fifth?.kind === "harness" && fifth.replaces?.sum, before[4]?.sum);
  }));

Deno.test("swapped turns go back to their numbers, byte for byte", () =>
  damaged(async (home) => {
    const bytes = [3, 4].map((turn) => Deno.readTextFileSync(pathOf(home, turn)));
    Deno.writeTextFileSync(pathOf(home, 3), bytes[1] ?? "");
    Deno.writeTextFileSync(pathOf(home, 4), bytes[0] ?? "");
    const { actions } = await repaired(home);
    assert.deepEqual(actions.map(({ action, path, from }) => [action, path, from]), [
      ["restore", "turns/000003.json", "turns/000004.json"],
      ["restore", "turns/000004.json", "turns/000003.json"],
    ]);
    assert.deepEqual([3, 4].map((turn) => Deno.readTextFileSync(pathOf(home, turn))), bytes);
  }));

Deno.test("a turn that a killed repair had moved to quarantine comes back, because the next one names it", () =>
  damaged(async (home, before) => {
    const { quarantine } = sessionPaths(home.sessions, ID);
    Deno.mkdirSync(quarantine, { mode: 0o700 });
    Deno.renameSync(pathOf(home, 3), kept(home, "000003.json.repair-1"));
    // Another writer's turn of the same number is none that anybody names.
    Deno.copyFileSync(pathOf(home, 4), kept(home, "000006.json.diverged-0000000000000000"));
    const { actions } = await repaired(home);
    assert.deepEqual(actions.map(({ action, from }) => [action, from]), [
      ["restore", "quarantine/000003.json.repair-1"],
    ]);
    assert.deepEqual(read(home).turns, before);
  }));

Deno.test("of two turns that do not fit together, the one that the manifest names is kept, or else the one before it", () =>
  damaged(async (home, before) => {
    const text = Deno.readTextFileSync(pathOf(home, 5)).replace(/"prev":"\w+"/, `"prev":"${"0".repeat(64)}"`);
    Deno.writeFileSync(pathOf(home, 5), seal(text.slice(0, text.lastIndexOf('"sum"'))).bytes);
    const { actions } = await repaired(home);
    assert.deepEqual(actions.filter(({ action }) => action === "replace").map(({ turn }) => turn), [5]);
    assert.deepEqual(read(home).turns.slice(0, 4), before.slice(0, 4));
  }));

Deno.test("files that a killed repair had kept are not kept twice", () =>
  damaged(async (home) => {
    const { quarantine } = sessionPaths(home.sessions, ID);
    Deno.writeTextFileSync(pathOf(home, 3), "");
    Deno.mkdirSync(quarantine, { mode: 0o700 });
    Deno.linkSync(pathOf(home, 3), kept(home, "000003.json.repair-1"));
    await repaired(home);
    const names = [...Deno.readDirSync(quarantine)].map(({ name }) => name);
    assert.deepEqual(names.filter((name) => name.startsWith("000003")), ["000003.json.repair-1"]);
  }));

Deno.test("of a replacement that is damaged in turn, the original's sum is still named", () =>
  damaged(async (home, before) => {
    for (const round of [1, 2]) {
      Deno.writeTextFileSync(pathOf(home, 3), `damage ${round}`);
      await repaired(home);
    }
    const third = read(home).turns[2];
    assert.equal(third?.kind === "harness" && third.replaces?.sum, before[2]?.sum);
    assert.equal(Deno.readTextFileSync(kept(home, "000003.json.repair-2")), "damage 2");
  }));

Deno.test("a lost blob is named for the record, and a damaged one is kept in quarantine", () =>
  damaged(async (home) => {
    const name = sha256Hex(INSTRUCTIONS);
    const path = `${sessionPaths(home.sessions, ID).blobs}/${name}`;
    Deno.writeTextFileSync(path, "something else");
    const { lostBlobs } = await repaired(home);
    assert.deepEqual(lostBlobs, [{ sha256: name, turn: 1, by: "pins.instructions" }]);
    assert.equal(Deno.readTextFileSync(kept(home, `${name.slice(0, 60)}.repair-1`)), "something else");
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    writer.append({ kind: "harness", run: 1, events: [{ type: "blob_lost", sha256: name }] });
    writer.close();
    const { findings } = await fsckSession(testPorts(), home, ID);
    assert.deepEqual(findings.map(({ severity, code }) => [severity, code]), [["warning", "missing_blob"]]);
    assert.deepEqual((await repaired(home)).lostBlobs, []);
  }));

Deno.test("the blobs that a replacement pins exist, also if another content had their names", () =>
  damaged(async (home) => {
    const paths = sessionPaths(home.sessions, ID);
    Deno.writeTextFileSync(pathOf(home, 1), "");
    Deno.removeSync(paths.manifest);
    // The only turn with pins is lost: its place is taken with tools that are known to be none.
    for (const content of ["{}", "longer than no tools"]) {
      Deno.writeTextFileSync(`${paths.blobs}/${sha256Hex("[]")}`, content, { mode: 0o600 });
      await repaired(home);
      assert.equal(Deno.readTextFileSync(`${paths.blobs}/${sha256Hex("[]")}`), "[]");
      const { findings } = await fsckSession(testPorts(), home, ID);
      assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
      Deno.writeTextFileSync(pathOf(home, 1), "");
      Deno.removeSync(paths.manifest);
    }
  }));

Deno.test("symbolic links and directories where turns belong are moved aside, and never followed", () =>
  damaged(async (home) => {
    const outside = `${home.path}/outside.json`;
    Deno.renameSync(pathOf(home, 4), outside);
    Deno.symlinkSync(outside, pathOf(home, 4));
    Deno.removeSync(pathOf(home, 2));
    Deno.mkdirSync(pathOf(home, 2));
    await repaired(home);
    assert.deepEqual(read(home).turns.map(({ kind }) => kind), [
      "user",
      "harness",
      "tools",
      "harness",
      "harness",
    ]);
    assert.equal(Deno.lstatSync(kept(home, "000004.json.repair-1")).isSymlink, true);
    assert.equal(Deno.lstatSync(kept(home, "000002.json.repair-1")).isDirectory, true);
    assert.equal(Deno.lstatSync(outside).isFile, true);
    assert.deepEqual((await repaired(home)).actions, []);
  }));

Deno.test("modes that others could read are put right", () =>
  damaged(async (home) => {
    const { root } = sessionPaths(home.sessions, ID);
    Deno.chmodSync(root, 0o755);
    Deno.chmodSync(pathOf(home, 2), 0o644);
    const { actions } = await repaired(home);
    assert.deepEqual(actions.map(({ action, path }) => [action, path]), [
      ["fix_mode", "."],
      ["fix_mode", "turns/000002.json"],
    ]);
    assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
  }));

Deno.test("a turn of a later version is never judged: repair refuses and changes nothing", () =>
  damaged(async (home) => {
    const text = Deno.readTextFileSync(pathOf(home, 4)).replace("reprise.turn/1", "reprise.turn/2");
    Deno.writeFileSync(pathOf(home, 4), seal(text.slice(0, text.lastIndexOf('"sum"'))).bytes);
    Deno.writeTextFileSync(pathOf(home, 2), "");
    await assert.rejects(repaired(home), { code: "format_too_new" });
    assert.equal(Deno.readTextFileSync(pathOf(home, 2)), "");
  }));

Deno.test("foreign directories are left to the user", () =>
  damaged(async (home) => {
    const { turns } = sessionPaths(home.sessions, ID);
    Deno.renameSync(turns, `${turns}-away`);
    Deno.symlinkSync(`${turns}-away`, turns);
    await assert.rejects(repaired(home), { code: "session_damaged" });
    assert.equal(Deno.lstatSync(turns).isSymlink, true);
  }));

test.long("foreseeing a repair changes nothing, and waits for no writer", () =>
  damaged(async (home) => {
    Deno.writeTextFileSync(pathOf(home, 3), "");
    const foreseen = await previewRepair(testPorts(), home, { id: ID });
    assert.equal(Deno.readTextFileSync(pathOf(home, 3)), "");
    assert.deepEqual(foreseen.actions, (await repaired(home)).actions);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    writer.append(userDraft("go on", 2));
    await assert.rejects(previewRepair(testPorts(), home, { id: ID }), { code: "session_locked" });
    await assert.rejects(repaired(home), { code: "session_locked" });
    writer.close();
  }));

Deno.test("a fork is repaired in its shared turns, and if the turn that names its parent is lost", () =>
  damaged(async (home, before) => {
    const id = parseSessionId("fork");
    const plan = planFork(testPorts(), home, { parent: ID, toSeq: undefined });
    await forkSession(testPorts(), home, plan, { id, summary: null, usage: NO_USAGE });
    const writer = await SessionWriter.open(testPorts(), home, { id });
    writer.append(userDraft("another way", 2));
    writer.append(endDraft(2));
    writer.close();
    const paths = sessionPaths(home.sessions, id);
    for (const turn of [3, 6]) {
      // Another file under that name: the parent's does not change.
      Deno.removeSync(turnPath(paths, turn));
      Deno.writeTextFileSync(turnPath(paths, turn), "", { mode: 0o600 });
    }
    const { actions } = await repairSession(testPorts(), home, { id, waitMs: 0 });
    assert.deepEqual(actions.filter(({ action }) => action === "replace").map(({ turn }) => turn), [3, 6]);
    const { turns } = readSession(testPorts(), home, id);
    assert.deepEqual(turns.map(({ session }) => session), [...Array(5).fill(ID), id, id, id]);
    const { findings } = await fsckSession(testPorts(), home, id);
    assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
    assert.deepEqual((await repairSession(testPorts(), home, { id, waitMs: 0 })).actions, []);
    assert.deepEqual(read(home).turns, before);
    // Nothing names the parent any more but its turns: a fork of the fork may hold them all the same.
    const child = parseSessionId("fork-of-fork");
    const again = planFork(testPorts(), home, { parent: id, toSeq: undefined });
    await forkSession(testPorts(), home, again, { id: child, summary: null, usage: NO_USAGE });
    assert.deepEqual(readSession(testPorts(), home, child).turns.length, 9);
  }));

import assert from "node:assert/strict";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { readSession } from "../../../src/store/read/session.ts";
import type { Home } from "../../../src/store/home.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { repairSession } from "../../../src/store/repair/repair.ts";
import { DAMAGE, edit } from "./fsck_damage.ts";
import { HARMLESS } from "./repaired.ts";
import { CHANGING, spyFiles } from "./spy_files.ts";
import {
  call,
  ID,
  modelDraft,
  newSession,
  portsOn,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

async function codesOf(home: Home): Promise<string[]> {
  const report = await fsckSession(testPorts(), home, ID);
  return report.findings.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

for (const [name, { damage, found, refused }] of Object.entries(DAMAGE)) {
  Deno.test(`fsck finds ${name}${refused ? ", and readers refuse it" : ""}`, () =>
    withHome(async (home) => {
      const { path } = await newSession(testPorts(), home);
      damage(path);
      assert.deepEqual(await codesOf(home), found);
      const read = () => readSession(testPorts(), home, ID);
      if (refused) assert.throws(read, { code: "session_damaged", hint: /reprise fsck fix-ci-7k2m/ });
      else assert.equal(read().turns.length, 5);
    }));
}

for (const [name, { damage, found }] of Object.entries(DAMAGE)) {
  Deno.test(`fsck and repair agree about ${name}`, () =>
    withHome(async (home) => {
      const { path } = await newSession(testPorts(), home);
      damage(path);
      const { actions, lostBlobs } = await repairSession(testPorts(), home, { id: ID, waitMs: 0 });
      const paths = found.map((line) => line.split(" ").at(-1));
      // Of two turns that do not fit, either may be the wrong one; a manifest follows from repaired turns.
      const others = actions.filter(({ turn, action }) =>
        turn === undefined && action !== "rebuild_manifest"
      );
      assert.deepEqual(others.filter(({ path }) => !paths.includes(path)), [], "fsck overlooks it");
      // The writer records the loss of blobs after a repair.
      const lost = new Set(lostBlobs.map(({ sha256 }) => `blobs/${sha256}`));
      const { findings } = await fsckSession(testPorts(), home, ID);
      const left = findings.filter(({ code, path }) => !HARMLESS.has(code) && !lost.has(path));
      assert.deepEqual(left, [], "repair leaves it");
    }));
}

Deno.test("a sound session has no findings, and fsck changes nothing on disk", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const ports = portsOn(spyFiles(({ name, path }) => assert.ok(!CHANGING.has(name), `${name} ${path}`)));
    assert.deepEqual(await fsckSession(ports, home, ID), { id: ID, findings: [], turns: 5, in_use: false });
  }));

Deno.test("calls without results are a warning, unless a writer is at work on them", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    writer.append(userDraft("go on", 2));
    writer.append(modelDraft([call("call_x"), call("call_y")], 2));
    writer.append({ kind: "tools", run: 2, events: [result("call_x", 12)] });
    writer.putBlob(new TextEncoder().encode("for the next turn"));
    const busy = await fsckSession(testPorts(), home, ID);
    assert.deepEqual([busy.in_use, busy.findings], [true, []]);
    writer.close();
    const idle = await fsckSession(testPorts(), home, ID);
    assert.equal(idle.in_use, false);
    assert.deepEqual(idle.findings.map(({ severity, code, turn }) => [severity, code, turn]), [
      ["info", "unreferenced_blob", undefined],
      ["warning", "orphan_call", 7],
      ["info", "open_run", 8],
    ]);
  }));

Deno.test("calls of a response that failed are never run, so nothing is missing there", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    writer.append(userDraft("go on", 2));
    writer.append({ ...modelDraft([call("call_x")], 2), response: { id: null, status: "failed" } } as never);
    writer.close();
    assert.deepEqual((await codesOf(home)).filter((line) => line.includes("orphan")), []);
  }));

Deno.test("a turn of a later format is a warning: this version cannot judge it", () =>
  withHome(async (home) => {
    const { path } = await newSession(testPorts(), home);
    edit(path, 5, (text) => text.replace("reprise.turn/1", "reprise.turn/7"));
    assert.deepEqual(await codesOf(home), [
      "warning newer_format turns/000005.json",
    ]);
  }));

Deno.test("a session without a turn is named, as a creation that was cut short or as one that lost its turns", () =>
  withHome(async (home) => {
    const { path } = await newSession(testPorts(), home);
    for (const { name } of [...Deno.readDirSync(`${path}/turns`)]) Deno.removeSync(`${path}/turns/${name}`);
    const unused = (await codesOf(home)).filter((line) => !line.includes("unreferenced_blob"));
    assert.deepEqual(unused, ["error manifest_leads manifest.json"]);
    Deno.truncateSync(`${path}/manifest.json`, 10);
    assert.deepEqual((await codesOf(home)).filter((line) => !line.includes("unreferenced_blob")), [
      "error missing_turn turns/000001.json",
      "warning manifest_garbled manifest.json",
    ]);
    Deno.removeSync(`${path}/manifest.json`);
    assert.deepEqual((await codesOf(home)).filter((line) => !line.includes("unreferenced_blob")), [
      "warning no_turns .",
    ]);
  }));

test.long("a session that is removed or replaced while fsck checks it is reported as gone, whenever that happens", () =>
  withHome(async (home) => {
    for (const how of ["removed", "replaced"]) {
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
        else if (at > 1) {
          assert.equal(outcome.code, "no_such_session", `${how} before operation ${at}: ${outcome}`);
        }
        for (const left of [path, `${home.path}/away`]) {
          if (testPorts().files.facts(left) !== null) Deno.removeSync(left, { recursive: true });
        }
        assert.ok(done || at < 200);
      }
    }
  }));

Deno.test("fsck of no session says so", () =>
  withHome(async (home) => {
    await assert.rejects(fsckSession(testPorts(), home, ID), { code: "no_such_session", exitCode: 2 });
  }));

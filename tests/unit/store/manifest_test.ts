import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeManifest, type Manifest } from "../../../src/domain/manifest.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { seal } from "../../../src/domain/seal.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { type Home, listSessions } from "../../../src/store/home.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { collectGarbage } from "../../../src/store/lifecycle/remove.ts";
import { repairSession } from "../../../src/store/repair/repair.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import {
  appendRun,
  endDraft,
  ID,
  INSTRUCTIONS,
  modelDraft,
  newSession,
  pinsFor,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

const pathIn = (home: Home) => `${home.sessions}/${ID}/manifest.json`;

async function codesOf(home: Home): Promise<string[]> {
  return (await fsckSession(testPorts(), home, ID)).findings.map(({ severity, code }) =>
    `${severity} ${code}`
  );
}

/** Appends one turn, which also writes a new manifest. */
async function appendOne(home: Home): Promise<void> {
  const writer = await SessionWriter.open(testPorts(), home, { id: ID });
  writer.append(userDraft("next", writer.end.run + 1));
  writer.append(endDraft(writer.end.run));
  writer.close();
}

/** Ways to lose or spoil a manifest that only cost a rebuild, with what fsck says. */
const SPOILED: Record<string, { spoil: (path: string) => void; finding: string }> = {
  missing: { spoil: (path) => Deno.removeSync(path), finding: "warning manifest_missing" },
  empty: { spoil: (path) => Deno.writeTextFileSync(path, ""), finding: "warning manifest_garbled" },
  "cut short": {
    spoil: (path) => Deno.truncateSync(path, Deno.statSync(path).size - 10),
    finding: "warning manifest_garbled",
  },
  "edited manually": {
    spoil: (path) => Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace("completed", "failed")),
    finding: "warning manifest_garbled",
  },
  "of another session": {
    spoil: (path) => reseal(path, (manifest) => ({ ...manifest, session: "other" })),
    finding: "warning manifest_garbled",
  },
  "with a head whose sum is another": {
    spoil: (path) =>
      reseal(path, (manifest) => ({ ...manifest, head: { ...manifest.head, sum: "0".repeat(64) } })),
    finding: "warning manifest_wrong",
  },
  "padded to 2 MB": {
    spoil: (path) => {
      const text = Deno.readTextFileSync(path);
      const open = text.slice(0, text.lastIndexOf('"sum"'));
      Deno.writeFileSync(path, seal(`${open}${" ".repeat(2 * 1024 * 1024)}`).bytes);
    },
    finding: "warning manifest_garbled",
  },
  "sealed again with pins that no turn has": {
    spoil: (path) =>
      reseal(path, (manifest) => ({ ...manifest, pins: { ...manifest.pins, instructions: "0".repeat(64) } })),
    finding: "warning manifest_wrong",
  },
  "sealed again with another run": {
    spoil: (path) => reseal(path, (manifest) => ({ ...manifest, run: 7 })),
    finding: "warning manifest_wrong",
  },
};

function reseal(path: string, change: (manifest: Manifest) => Manifest): void {
  const { sum: _, ...manifest } = JSON.parse(Deno.readTextFileSync(path));
  Deno.writeFileSync(path, encodeManifest(change(manifest)).bytes);
}

for (const [name, { spoil, finding }] of Object.entries(SPOILED)) {
  Deno.test(`a manifest that is ${name} is rebuilt from the turns, byte for byte`, () =>
    withHome(async (home) => {
      await newSession(testPorts(), home);
      const path = pathIn(home);
      const original = Deno.readFileSync(path);
      spoil(path);
      assert.deepEqual(await codesOf(home), [finding]);
      const { manifest } = readSession(testPorts(), home, ID);
      assert.deepEqual(encodeManifest(manifest).bytes, original);
      await appendOne(home);
      assert.deepEqual(await codesOf(home), []);
    }));
}

Deno.test("a manifest that lags is advanced by the turns it lacks", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const old = Deno.readFileSync(pathIn(home));
    await appendOne(home);
    const fresh = Deno.readFileSync(pathIn(home));
    Deno.writeFileSync(pathIn(home), old);
    assert.deepEqual(await codesOf(home), ["info manifest_lags"]);
    assert.deepEqual(encodeManifest(readSession(testPorts(), home, ID).manifest).bytes, fresh);
  }));

Deno.test("in the middle of a run the manifest does not change, and the end of the run or of the writer brings it up to date", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const turnInFile = () => JSON.parse(Deno.readTextFileSync(pathIn(home))).head.turn;
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    writer.append(userDraft("next", 2));
    assert.equal(turnInFile(), 6);
    writer.append(modelDraft([], 2));
    writer.append(modelDraft([], 2));
    assert.equal(turnInFile(), 6);
    writer.append(endDraft(2));
    assert.equal(turnInFile(), 9);
    writer.append(userDraft("more", 3));
    writer.append(modelDraft([], 3));
    assert.equal(turnInFile(), 10);
    writer.close();
    assert.equal(turnInFile(), 11);
    assert.deepEqual(await codesOf(home), ["info open_run"]);
  }));

Deno.test("a manifest that leads is damage, never rebuilt: its turns were lost", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const manifest = Deno.readFileSync(pathIn(home));
    Deno.removeSync(`${home.sessions}/${ID}/turns/000005.json`);
    const expected = {
      code: "session_damaged",
      message: /turns\/000005\.json is missing, but the manifest names turn 5/,
    };
    assert.throws(() => readSession(testPorts(), home, ID), expected);
    await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), expected);
    assert.deepEqual(await codesOf(home), ["error manifest_leads", "info open_run"]);
    assert.deepEqual(Deno.readFileSync(pathIn(home)), manifest);
    for (const turn of [1, 2, 3, 4]) Deno.removeSync(`${home.sessions}/${ID}/turns/00000${turn}.json`);
    await assert.rejects(SessionWriter.create(testPorts(), home, { id: ID }), { code: "session_damaged" });
  }));

Deno.test("a manifest of a later format is ignored and left alone", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const later = seal(`{"format":"reprise.manifest/2","anything":true,`).bytes;
    Deno.writeFileSync(pathIn(home), later);
    assert.deepEqual(await codesOf(home), ["info manifest_newer"]);
    assert.equal(readSession(testPorts(), home, ID).manifest.head.turn, 5);
    await appendOne(home);
    assert.deepEqual(Deno.readFileSync(pathIn(home)), later);
    assert.equal(readSession(testPorts(), home, ID).manifest.head.turn, 7);
    const [summary] = listSessions(testPorts(), home);
    assert.equal(summary?.manifest?.head.turn, 7);
    assert.match(summary?.problem ?? "", /reprise\.manifest\/2/);
  }));

Deno.test("a manifest that cannot be written does not fail the turn, and nothing but the turn is promised", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    Deno.removeSync(pathIn(home));
    Deno.mkdirSync(`${pathIn(home)}/in-the-way`, { recursive: true });
    const real = testPorts();
    // The directory is looked past here, so that only the replacement meets it.
    const ports = testPorts({
      files: { ...real.files, facts: (path) => path === pathIn(home) ? null : real.files.facts(path) },
    });
    const writer = await SessionWriter.open(ports, home, { id: ID });
    assert.equal(writer.append(userDraft("next", 2)).turn, 6);
    assert.equal(writer.manifest?.head.turn, 6);
    writer.close();
    assert.deepEqual([...Deno.readDirSync(writer.path)].filter(({ name }) => name.startsWith(".tmp")), []);
  }));

test.long("the manifest written turn by turn equals the one made from all turns, whatever the history", () =>
  withHome(async (home) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("run", "short"), { minLength: 1, maxLength: 4 }),
        async (runs) => {
          const id = `${ID}-${++count}` as typeof ID;
          const writer = await newSession(testPorts(), home, id);
          const again = await SessionWriter.open(testPorts(), home, { id });
          for (const [index, kind] of runs.entries()) {
            if (kind === "run") appendRun(again, index + 2);
            else {
              again.append(userDraft("short", index + 2));
              again.append(endDraft(index + 2));
            }
          }
          again.close();
          const path = `${writer.path}/manifest.json`;
          const written = Deno.readFileSync(path);
          Deno.removeSync(path);
          assert.deepEqual(encodeManifest(readSession(testPorts(), home, id).manifest).bytes, written);
          assert.ok(written.length < 2048);
        },
      ),
      { numRuns: 20, seed: 11 },
    );
  }));

/** Sizes of the files in a session's directory, as the file system has them. */
function sizesIn(home: Home, directory: "turns" | "blobs", id = ID): number {
  const path = `${home.sessions}/${id}/${directory}`;
  return [...Deno.readDirSync(path)].reduce(
    (sum, { name }) => sum + Deno.statSync(`${path}/${name}`).size,
    0,
  );
}

/** Totals that the manifest file of a session has, and those of its files. */
function totals(home: Home, id = ID) {
  const { bytes } = JSON.parse(Deno.readTextFileSync(`${home.sessions}/${id}/manifest.json`));
  return { bytes, files: { turns: sizesIn(home, "turns", id), blobs: sizesIn(home, "blobs", id) } };
}

Deno.test("the manifest counts the bytes of turns and blobs: after each turn, a fork, an import, gc and a repair", () =>
  withHome(async (home) => {
    const writer = await newSession(testPorts(), home);
    const check = (id = ID) => {
      const { bytes, files } = totals(home, id);
      assert.deepEqual(bytes, files);
    };
    check();
    const again = await SessionWriter.open(testPorts(), home, { id: ID });
    again.putBlob(new TextEncoder().encode("a large output"));
    again.putBlob(INSTRUCTIONS);
    appendRun(again, 2);
    check();
    again.close();
    const child = parseSessionId("child");
    const plan = planFork(testPorts(), home, { parent: ID });
    await forkSession(testPorts(), home, plan, { id: child, summary: null, usage: NO_USAGE });
    check(child);
    const before = totals(home).bytes.blobs;
    await collectGarbage(testPorts(), home, { dryRun: false });
    check();
    assert.equal(before - totals(home).bytes.blobs, "a large output".length);
    Deno.truncateSync(`${writer.path}/turns/000003.json`, 40);
    await repairSession(testPorts(), home, { id: ID, waitMs: 0 });
    check();
  }));

Deno.test("a manifest without totals, as earlier versions wrote it, is usable and gets them with the next turn", () =>
  withHome(async (home) => {
    const writer = await newSession(testPorts(), home);
    for (const checkpoint of [false, true]) {
      if (checkpoint) await compactAll(home);
      reseal(pathIn(home), ({ bytes: _bytes, ...manifest }) => manifest);
      assert.deepEqual(await codesOf(home), []);
      assert.equal(totals(home).bytes, undefined);
      const [listed] = listSessions(testPorts(), home);
      assert.equal(listed?.problem, undefined);
      await appendOne(home);
      const { bytes, files } = totals(home);
      assert.deepEqual(bytes, files);
    }
    assert.ok(writer.path.endsWith(ID));
  }));

Deno.test("the totals of a manifest that lags behind a checkpoint are completed by the turns after it", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await compactAll(home);
    const old = Deno.readFileSync(pathIn(home));
    await appendOne(home);
    Deno.writeFileSync(pathIn(home), old);
    await appendOne(home);
    const { bytes, files } = totals(home);
    assert.deepEqual(bytes, files);
  }));

Deno.test("totals that the turns do not have are found by fsck and repaired", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    for (const turns of [0, 1e9]) {
      reseal(pathIn(home), (manifest) => ({ ...manifest, bytes: { turns, blobs: 0 } }));
      assert.deepEqual(await codesOf(home), ["warning manifest_wrong"]);
      const { actions } = await repairSession(testPorts(), home, { id: ID, waitMs: 0 });
      assert.deepEqual(actions.map(({ action }) => action), ["rebuild_manifest"]);
      assert.deepEqual(await codesOf(home), []);
      const { bytes, files } = totals(home);
      assert.deepEqual(bytes, files);
    }
  }));

/** Appends a checkpoint of the whole session. */
async function compactAll(home: Home): Promise<void> {
  const writer = await SessionWriter.open(testPorts(), home, { id: ID });
  const { turn, seq, run } = writer.end;
  writer.append({
    kind: "compaction",
    run,
    pins: pinsFor(),
    events: [{
      type: "history_compaction",
      to_seq: seq,
      to_turn: turn,
      previous_checkpoint: null,
      opening_turn: null,
      strategy: "deterministic",
      summary: "Everything up to here.",
      limitations: [],
    }],
  });
  writer.close();
}

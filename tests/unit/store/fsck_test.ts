import assert from "node:assert/strict";
import { seal } from "../../../src/domain/seal.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { readSession } from "../../../src/store/read/session.ts";
import type { Home } from "../../../src/store/home.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { CHANGING, spyFiles } from "./spy_files.ts";
import {
  call,
  ID,
  INSTRUCTIONS,
  modelDraft,
  newSession,
  portsOn,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

interface Damage {
  /** Changes a sound session of five turns at `path`. */
  readonly damage: (path: string) => void;
  /** `severity code path`, in order. */
  readonly found: readonly string[];
  /** True if a reader refuses it. */
  readonly refused: boolean;
}

const turn = (path: string, number: number) => `${path}/turns/00000${number}.json`;

/** Edits a turn and seals it again, as a careful vandal would. The manifest is not changed. */
function edit(path: string, number: number, change: (text: string) => string): void {
  const file = turn(path, number);
  const text = Deno.readTextFileSync(file);
  const changed = change(text);
  assert.notEqual(changed, text);
  Deno.writeFileSync(file, seal(changed.slice(0, changed.lastIndexOf('"sum"'))).bytes);
}

interface LastTurn {
  readonly kind: string;
  /** Further members, with the comma after them. */
  readonly members?: string | undefined;
  /** The only event, with seq 10. */
  readonly event: string;
}

/** Puts another turn 5 in place, which fits the turns before it. */
function replaceLast(path: string, { kind, members = "", event }: LastTurn): void {
  const prev = /"prev":"\w+"/.exec(Deno.readTextFileSync(turn(path, 5)))?.[0];
  const head =
    `{"format":"reprise.turn/1","session":"${ID}","turn":5,"kind":"${kind}","run":1,"seq":[10,10],`;
  const unsealed = `${head}${prev},"at":"2026-11-21T20:18:00.000Z",${members}"events":[${event}],`;
  Deno.writeFileSync(turn(path, 5), seal(unsealed).bytes);
}

const BLOB = sha256Hex(INSTRUCTIONS);

const DAMAGE: Record<string, Damage> = {
  "a turn edited manually": {
    damage: (path) => {
      const text = Deno.readTextFileSync(turn(path, 2)).replace("rs_1", "rs_2");
      Deno.writeTextFileSync(turn(path, 2), text);
    },
    // The results of turn 3 may answer calls that turn 2 held, so only turn 2 is blamed.
    found: ["error bad_sum turns/000002.json"],
    refused: true,
  },
  "a turn edited and sealed again": {
    damage: (path) => edit(path, 2, (text) => text.replace("rs_1", "rs_2")),
    found: ["error wrong_prev turns/000003.json"],
    refused: true,
  },
  "a missing turn": {
    damage: (path) => Deno.removeSync(turn(path, 3)),
    found: ["error missing_turn turns/000003.json"],
    refused: true,
  },
  "two turns swapped": {
    damage: (path) => {
      Deno.renameSync(turn(path, 3), `${path}/t`);
      Deno.renameSync(turn(path, 4), turn(path, 3));
      Deno.renameSync(`${path}/t`, turn(path, 4));
    },
    found: [
      "error wrong_number turns/000003.json",
      "error wrong_prev turns/000003.json",
      "error wrong_seq turns/000003.json",
      "error wrong_number turns/000004.json",
      "error wrong_prev turns/000004.json",
      "error wrong_seq turns/000004.json",
      "error wrong_prev turns/000005.json",
      "error wrong_seq turns/000005.json",
    ],
    refused: true,
  },
  "a duplicate of the last turn under the next number": {
    damage: (path) => Deno.copyFileSync(turn(path, 5), turn(path, 6)),
    found: [
      "error wrong_number turns/000006.json",
      "error wrong_prev turns/000006.json",
      "error wrong_seq turns/000006.json",
      "error wrong_run turns/000006.json",
      "info manifest_lags manifest.json",
    ],
    refused: true,
  },
  "a turn number far beyond the end": {
    damage: (path) => Deno.copyFileSync(turn(path, 5), `${path}/turns/999999999.json`),
    found: [
      "error missing_turn turns/000006.json",
      "error wrong_number turns/999999999.json",
      "info manifest_lags manifest.json",
    ],
    // Readers look one number past the first free one, and at all of them only without a manifest.
    refused: false,
  },
  "foreign names": {
    damage: (path) => {
      for (const name of ["turns/0000003.json", "turns/notes.txt", "blobs/readme", "extra"]) {
        Deno.writeTextFileSync(`${path}/${name}`, "", { mode: 0o600 });
      }
    },
    found: [
      "warning foreign_file extra",
      "warning foreign_file turns/0000003.json",
      "warning foreign_file turns/notes.txt",
      "warning foreign_file blobs/readme",
    ],
    refused: false,
  },
  "a turn of another session": {
    damage: (path) => edit(path, 5, (text) => text.replace(`"session":"${ID}"`, '"session":"other"')),
    found: ["error foreign_turn turns/000005.json"],
    refused: true,
  },
  "a turn of the wrong shape": {
    damage: (path) => edit(path, 5, (text) => text.replace('"exit_code":0', '"exit_code":"none"')),
    found: ["error bad_shape turns/000005.json"],
    refused: true,
  },
  "a turn that names no format of ours": {
    damage: (path) => edit(path, 5, (text) => text.replace("reprise.turn/1", "other/1")),
    found: ["error bad_format turns/000005.json"],
    refused: true,
  },
  "a turn that is not JSON": {
    damage: (path) => edit(path, 5, (text) => text.replace("{", "[")),
    found: ["error bad_json turns/000005.json"],
    refused: true,
  },
  "a result whose call is another's": {
    damage: (path) => edit(path, 3, (text) => text.replace('"call_id":"call_b"', '"call_id":"call_x"')),
    found: [
      "error result_without_call turns/000003.json",
      "error wrong_prev turns/000004.json",
    ],
    refused: true,
  },
  "a second result for a call": {
    damage: (path) =>
      edit(
        path,
        3,
        (text) => text.replace('"call_id":"call_b","call_seq":4', '"call_id":"call_a","call_seq":3'),
      ),
    found: [
      "error second_result turns/000003.json",
      "error wrong_prev turns/000004.json",
      "warning orphan_call turns/000002.json",
    ],
    refused: true,
  },
  "a temporary file of a killed writer": {
    damage: (path) => Deno.writeTextFileSync(`${path}/.tmp-77-00ff`, "{", { mode: 0o600 }),
    found: ["info leftover .tmp-77-00ff"],
    refused: false,
  },
  "a directory with the name of a temporary file": {
    damage: (path) => {
      Deno.mkdirSync(`${path}/.tmp-77-00ff`);
      Deno.writeTextFileSync(`${path}/.tmp-77-00ff/mine`, "mine");
    },
    found: ["warning foreign_file .tmp-77-00ff"],
    refused: false,
  },
  "a second result for a call, in a later turn": {
    damage: (path) =>
      replaceLast(path, {
        kind: "tools",
        event: '{"seq":10,"type":"tool_result","call_id":"call_a","call_seq":3,"tool":"read_file",' +
          '"status":"ok","output":"other content"}',
      }),
    found: ["error second_result turns/000005.json", "info open_run turns/000005.json"],
    refused: true,
  },
  "a checkpoint that keeps the message of a turn after its end": {
    damage: (path) => {
      const pins = /"pins":\{.*?\},\s/.exec(Deno.readTextFileSync(turn(path, 1)))?.[0];
      replaceLast(path, {
        kind: "compaction",
        members: pins,
        event: '{"seq":10,"type":"history_compaction","to_seq":1,"to_turn":1,"previous_checkpoint":null,' +
          '"opening_turn":999,"strategy":"deterministic","summary":"x","limitations":[]}',
      });
    },
    found: ["error wrong_checkpoint turns/000005.json", "info open_run turns/000005.json"],
    refused: true,
  },
  "open modes": {
    damage: (path) => {
      Deno.chmodSync(path, 0o755);
      Deno.chmodSync(`${path}/turns`, 0o750);
      Deno.chmodSync(turn(path, 1), 0o644);
      Deno.chmodSync(`${path}/manifest.json`, 0o640);
      Deno.chmodSync(`${path}/blobs/${BLOB}`, 0o666);
    },
    found: [
      "warning wrong_mode .",
      "warning wrong_mode manifest.json",
      "warning wrong_mode turns",
      "warning wrong_mode turns/000001.json",
      `warning wrong_mode blobs/${BLOB}`,
    ],
    refused: false,
  },
  "a missing blob that pins name": {
    damage: (path) => Deno.removeSync(`${path}/blobs/${BLOB}`),
    found: [`error missing_blob blobs/${BLOB}`],
    refused: false,
  },
  "a blob with another content of the same size": {
    damage: (path) => Deno.writeTextFileSync(`${path}/blobs/${BLOB}`, "You are a careful Agent."),
    found: [`error damaged_blob blobs/${BLOB}`],
    refused: false,
  },
  "a blob that no turn names": {
    damage: (path) => Deno.writeTextFileSync(`${path}/blobs/${"0".repeat(64)}`, "x", { mode: 0o600 }),
    found: [`info unreferenced_blob blobs/${"0".repeat(64)}`],
    refused: false,
  },
  "a directory where a turn belongs": {
    damage: (path) => {
      Deno.removeSync(turn(path, 4));
      Deno.mkdirSync(turn(path, 4), { mode: 0o700 });
    },
    found: ["error not_a_file turns/000004.json"],
    refused: true,
  },
};

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

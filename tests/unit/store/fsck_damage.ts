/**
 * Damage of a sound session of five turns, and what `fsck` finds.
 *
 * @module
 */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { seal } from "../../../src/domain/seal.ts";
import { ID, INSTRUCTIONS } from "./support.ts";

/** Damage, and its findings. */
export interface Damage {
  /** Changes a sound session of five turns at `path`. */
  readonly damage: (path: string) => void;
  /** `severity code path`, in order. */
  readonly found: readonly string[];
  /** True if a reader refuses it. */
  readonly refused: boolean;
}

const turn = (path: string, number: number) => `${path}/turns/00000${number}.json`;

/** Edits a turn and seals it again, as a careful vandal would. The manifest is not changed. */
export function edit(path: string, number: number, change: (text: string) => string): void {
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
/** The name of a blob with the content `x`. */
const UNNAMED = sha256Hex(new TextEncoder().encode("x"));

/** By what is wrong. */
export const DAMAGE: Record<string, Damage> = {
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
    damage: (path) => Deno.writeTextFileSync(`${path}/blobs/${UNNAMED}`, "x", { mode: 0o600 }),
    found: [`info unreferenced_blob blobs/${UNNAMED}`],
    refused: false,
  },
  "a blob that no turn names, with another content": {
    damage: (path) => {
      for (const name of ["0", "1"]) {
        Deno.writeTextFileSync(`${path}/blobs/${name.repeat(64)}`, "x", { mode: 0o600 });
      }
      Deno.writeTextFileSync(`${path}/blobs/${UNNAMED}`, "x", { mode: 0o600 });
    },
    found: [
      ...["0", "1"].map((name) => `warning damaged_blob blobs/${name.repeat(64)}`),
      `info unreferenced_blob blobs/${UNNAMED}`,
    ],
    refused: false,
  },
  "waiting turns that others may read, a link and a note among them": {
    damage: (path) => {
      Deno.mkdirSync(`${path}/pending`, { mode: 0o755 });
      for (const name of ["000006.json", "note"]) {
        Deno.writeTextFileSync(`${path}/pending/${name}`, "{}", { mode: 0o644 });
      }
      Deno.symlinkSync("000006.json", `${path}/pending/000007.json`);
    },
    found: [
      "warning wrong_mode pending",
      "warning wrong_mode pending/000006.json",
      "info waiting_turn pending/000006.json",
      "error symlink pending/000007.json",
      "warning foreign_file pending/note",
    ],
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

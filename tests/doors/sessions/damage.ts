/** Damage of a sound session of five turns, and what `fsck` finds. */
import { sha256 } from "../../support/files.ts";
import { checkpoint, PINS, results, type SessionFiles, user, write } from "./session_files.ts";

/** Damage, and its findings. */
export interface Damage {
  /** Changes a sound session of five turns. */
  readonly damage: (session: SessionFiles) => void;
  /** `severity code path`, in order. */
  readonly found: readonly string[];
  /**
   * True if no run continues the session before it is repaired.
   * @default {a finding is an error}
   */
  readonly refused?: boolean;
}

const BLOB = PINS.instructions;
/** The name of a blob with the content `x`. */
const UNNAMED = sha256("x");

/** By what is wrong. */
export const DAMAGE: Record<string, Damage> = {
  "a turn edited manually": {
    damage: (session) => {
      const text = Deno.readTextFileSync(session.turn(2)).replace("rs_1", "rs_2");
      Deno.writeTextFileSync(session.turn(2), text);
    },
    // The results of turn 3 may answer calls that turn 2 held, so only turn 2 is blamed.
    found: ["error bad_sum turns/000002.json"],
  },
  "a turn edited and sealed again": {
    damage: (session) => session.edit(session.turn(2), (text) => text.replace("rs_1", "rs_2")),
    found: ["error wrong_prev turns/000003.json"],
  },
  "a missing turn": {
    damage: (session) => Deno.removeSync(session.turn(3)),
    found: ["error missing_turn turns/000003.json"],
  },
  "a missing turn, and no manifest": {
    damage: (session) => {
      Deno.removeSync(session.manifest);
      Deno.removeSync(session.turn(1));
    },
    found: ["error missing_turn turns/000001.json", "warning manifest_missing manifest.json"],
  },
  "a missing newest turn, which the manifest names": {
    damage: (session) => Deno.removeSync(session.turn(5)),
    found: ["error manifest_leads manifest.json", "info open_run turns/000004.json"],
  },
  "two turns swapped": {
    damage: (session) => {
      Deno.renameSync(session.turn(3), `${session.path}/t`);
      Deno.renameSync(session.turn(4), session.turn(3));
      Deno.renameSync(`${session.path}/t`, session.turn(4));
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
  },
  "a duplicate of the last turn under the next number": {
    damage: (session) => Deno.copyFileSync(session.turn(5), session.turn(6)),
    found: [
      "error wrong_number turns/000006.json",
      "error wrong_prev turns/000006.json",
      "error wrong_seq turns/000006.json",
      "error wrong_run turns/000006.json",
      "info manifest_lags manifest.json",
    ],
  },
  "a turn number far beyond the end": {
    damage: (session) => Deno.copyFileSync(session.turn(5), `${session.path}/turns/999999999.json`),
    found: [
      "error missing_turn turns/000006.json",
      "error wrong_number turns/999999999.json",
      "info manifest_lags manifest.json",
    ],
    // Readers look one number past the first free one, and at all of them only without a manifest.
    refused: false,
  },
  "foreign names": {
    damage: (session) => {
      for (const name of ["turns/0000003.json", "turns/notes.txt", "blobs/readme", "extra"]) {
        write(`${session.path}/${name}`, "");
      }
    },
    found: [
      "warning foreign_file extra",
      "warning foreign_file turns/0000003.json",
      "warning foreign_file turns/notes.txt",
      "warning foreign_file blobs/readme",
    ],
  },
  "a turn of another session": {
    damage: (session) =>
      session.edit(session.turn(5), (text) => text.replace(`"session":"${session.id}"`, '"session":"other"')),
    found: ["error foreign_turn turns/000005.json"],
  },
  "a turn of the wrong shape": {
    damage: (session) =>
      session.edit(session.turn(5), (text) => text.replace('"exit_code":0', '"exit_code":"none"')),
    found: ["error bad_shape turns/000005.json"],
  },
  "a turn that names no format of ours": {
    damage: (session) => session.edit(session.turn(5), (text) => text.replace("reprise.turn/1", "other/1")),
    found: ["error bad_format turns/000005.json"],
  },
  "a turn that is not JSON": {
    damage: (session) => session.edit(session.turn(5), (text) => text.replace("{", "[")),
    found: ["error bad_json turns/000005.json"],
  },
  "a result whose call is another's": {
    damage: (session) =>
      session.edit(session.turn(3), (text) => text.replace('"call_id":"call_b"', '"call_id":"call_x"')),
    found: [
      "error result_without_call turns/000003.json",
      "error wrong_prev turns/000004.json",
    ],
  },
  "a second result for a call": {
    damage: (session) =>
      session.edit(
        session.turn(3),
        (text) => text.replace('"call_id":"call_b","call_seq":4', '"call_id":"call_a","call_seq":3'),
      ),
    found: [
      "error second_result turns/000003.json",
      "error wrong_prev turns/000004.json",
      "warning orphan_call turns/000002.json",
    ],
  },
  "a temporary file of a killed writer": {
    damage: (session) => write(`${session.path}/.tmp-77-00ff`, "{"),
    found: ["info leftover .tmp-77-00ff"],
  },
  "a directory with the name of a temporary file": {
    damage: (session) => {
      Deno.mkdirSync(`${session.path}/.tmp-77-00ff`);
      Deno.writeTextFileSync(`${session.path}/.tmp-77-00ff/mine`, "mine");
    },
    found: ["warning foreign_file .tmp-77-00ff"],
  },
  "a second result for a call, in a later turn": {
    damage: (session) => session.replaceLast(results({ call_a: 3 })),
    found: ["error second_result turns/000005.json", "info open_run turns/000005.json"],
  },
  "a checkpoint that keeps the message of a turn after its end": {
    damage: (session) => session.replaceLast(checkpoint({ turn: 1, seq: 1 }, 999, { run: 1 })),
    found: ["error wrong_checkpoint turns/000005.json", "info open_run turns/000005.json"],
  },
  "a fork turn that names another place than its own": {
    damage: (session) => {
      const event = {
        type: "session_fork",
        parent: "p",
        to_seq: 3,
        to_turn: 2,
        sum: UNNAMED,
        lineage: ["p"],
      };
      session.replaceLast({ kind: "fork", events: [event] });
    },
    found: ["error wrong_fork turns/000005.json", "info open_run turns/000005.json"],
  },
  "a run that begins before the one before it ended": {
    damage: (session) => {
      session.replaceLast(user("Again", 2));
      session.writeManifest();
    },
    found: ["warning run_not_ended turns/000005.json", "info open_run turns/000005.json"],
  },
  "open modes": {
    damage: (session) => {
      Deno.chmodSync(session.path, 0o755);
      Deno.chmodSync(`${session.path}/turns`, 0o750);
      Deno.chmodSync(session.turn(1), 0o644);
      Deno.chmodSync(`${session.path}/manifest.json`, 0o640);
      Deno.chmodSync(`${session.path}/blobs/${BLOB}`, 0o666);
    },
    found: [
      "warning wrong_mode .",
      "warning wrong_mode manifest.json",
      "warning wrong_mode turns",
      "warning wrong_mode turns/000001.json",
      `warning wrong_mode blobs/${BLOB}`,
    ],
  },
  "a missing blob that pins name": {
    damage: (session) => Deno.removeSync(`${session.path}/blobs/${BLOB}`),
    found: [`error missing_blob blobs/${BLOB}`],
  },
  "a blob with another content of the same size": {
    damage: (session) => Deno.writeTextFileSync(`${session.path}/blobs/${BLOB}`, "You are a careful Agent."),
    found: [`error damaged_blob blobs/${BLOB}`],
  },
  "blobs that no turn names, two of them with another content": {
    damage: (session) => {
      for (const name of ["0", "1"]) {
        write(`${session.path}/blobs/${name.repeat(64)}`, "x");
      }
      write(`${session.path}/blobs/${UNNAMED}`, "x");
    },
    found: [
      ...["0", "1"].map((name) => `warning damaged_blob blobs/${name.repeat(64)}`),
      `info unreferenced_blob blobs/${UNNAMED}`,
    ],
  },
  "waiting turns that others may read, a link and a note among them": {
    damage: (session) => {
      Deno.mkdirSync(`${session.path}/pending`, { mode: 0o755 });
      for (const name of ["000006.json", "note"]) {
        Deno.writeTextFileSync(`${session.path}/pending/${name}`, "{}", { mode: 0o644 });
      }
      Deno.symlinkSync("000006.json", `${session.path}/pending/000007.json`);
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
    damage: (session) => {
      Deno.removeSync(session.turn(4));
      Deno.mkdirSync(session.turn(4), { mode: 0o700 });
    },
    found: ["error not_a_file turns/000004.json"],
  },
  "a session that lost all its turns, of which its manifest tells": {
    damage: (session) => Deno.removeSync(`${session.path}/turns`, { recursive: true }),
    found: [
      "error manifest_leads manifest.json",
      `info unreferenced_blob blobs/${PINS.tools}`,
      `info unreferenced_blob blobs/${BLOB}`,
    ],
  },
};

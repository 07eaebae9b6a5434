/** Events on disk that later requests leave out: where they may be, and what they may name. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { asks, type Beat, compacts, ends, says, shortens, tell, undoes } from "../wire/story.ts";
import { withHome } from "./home.ts";
import { call, message, PINS, reasoning, results, user } from "./session_files.ts";

/** Attachment(1), prompt(2), rs_1(3), call_1(4), result(6), message(7), end(9). */
const BEFORE: readonly Beat[] = [
  (story) => {
    const blob = { sha256: "1".repeat(64), bytes: 120 };
    const file = { type: "attachment", name: "notes", media_type: "text/plain", blob };
    const prompt = user("Look at this");
    story.add({ ...prompt, events: [file, ...prompt.events] }, true);
  },
  says([reasoning("rs_1"), call("call_1")]),
  (story) => void story.add(results({ call_1: 4 })),
  says([message("msg_1", "Done")]),
  ends(),
];

const event = (members: Json, kind = "harness"): Beat => (story) =>
  void story.add({ kind, ...(kind === "compaction" ? { pins: PINS } : {}), events: [members] });
const omits = (seqs: readonly number[], part?: number): Beat =>
  event({ type: "items_omitted", seqs, ...(part === undefined ? {} : { part }), reason: "user_request" });
const withdraws = (omission: number): Beat => event({ type: "omission_withdrawn", omission });
const shortensSeq = (result_seq: number): Beat => (story) => {
  shortens("call_1", "kept")(story);
  const { events: [elided] } = story.turns.at(-1) as Json;
  elided.result_seq = result_seq;
};

/** By the turns after those, and the finding. */
const ROWS: readonly (readonly [string, readonly Beat[], string | null])[] = [
  ["several items", [omits([2, 4, 7])], null],
  ["a part of a prompt, of which files come first", [omits([2], 2)], null],
  ["a part that the prompt does not have", [omits([2], 3)], "wrong_omission"],
  ["a part of an answer", [omits([7], 1)], "wrong_omission"],
  ["the end of a run", [omits([9])], "wrong_omission"],
  ["an item after a checkpoint", [compacts("rs_1"), omits([7])], null],
  ["an item that a checkpoint replaces", [compacts(), omits([4])], "wrong_omission"],
  ["an item of a run that is open", [asks("And?"), omits([4])], "wrong_omission"],
  ["an item in a turn that is not the harness's", [
    event({ type: "items_omitted", seqs: [7], reason: "r" }, "compaction"),
  ], "wrong_omission"],
  ["an item, and takes that back", [omits([4]), undoes()], null],
  ["an item, and takes that back twice", [omits([4]), withdraws(10), withdraws(10)], "wrong_omission"],
  ["an item, and takes that back twice in one turn", [
    omits([4]),
    (story) => {
      const withdrawn = { type: "omission_withdrawn", omission: 10 };
      story.add({ kind: "harness", events: [withdrawn, withdrawn] });
    },
  ], "wrong_omission"],
  ["nothing, and takes an answer back", [withdraws(7)], "wrong_omission"],
  ["a part of a result", [shortensSeq(6)], null],
  ["a part of a call", [shortensSeq(4)], "wrong_checkpoint"],
];

for (const [what, beats, found] of ROWS) {
  withHome(`a session may ${found === null ? "" : "not "}leave out ${what}`, async (home) => {
    home.session(tell(...BEFORE, ...beats));
    const wrong = (await home.findings()).filter((line) => /wrong_|bad_/.test(line)).map((line) =>
      line.split(" ")[1]
    );
    assert.deepEqual(wrong.slice(0, 1), found === null ? [] : [found]);
  });
}

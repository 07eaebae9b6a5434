/** `search` in large outputs: the pieces in which they are read change nothing. */
import assert from "node:assert/strict";
import { sha256 } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { ID, SessionHome } from "./home.ts";
import { call, ended, message, model, results, user } from "./session_files.ts";

/** Size of a piece. */
const PIECE = 256 * 1024;
const NEEDLE = "the needle";
const BEFORE = "what is written before it, in at least forty letters: ";

/** Places of the text: at the ends of a piece and shortly before them, and across them by one letter, half of it, and all but one. */
const STARTS = [
  PIECE,
  ...[0, 1, NEEDLE.length / 2, NEEDLE.length - 1, NEEDLE.length, NEEDLE.length + 1, NEEDLE.length + 80].map((
    length,
  ) => PIECE - length),
  2 * PIECE - 1,
];

test.long("a text in the whole output of a call is found with its surroundings, wherever the pieces are cut", async () => {
  await using home = new SessionHome();
  const [result] = results({ call_a: 2 }).events;
  for (const start of STARTS) {
    for (const after of ["", " and more".repeat(20)]) {
      const text = `${"-".repeat(start - BEFORE.length)}${BEFORE}${NEEDLE}${after}`;
      home.session([
        user("Look"),
        model([call("call_a")]),
        {
          kind: "tools",
          events: [{ ...result, output: "cut", blob: { sha256: sha256(text), bytes: text.length } }],
        },
        model([message("msg_1", "Done.")]),
        ended(),
      ]).blob(text);
      const { sessions: [{ hits: [hit] }] } = await home.json(["search", NEEDLE]);
      const [from, to] = hit.at;
      assert.equal(hit.text.slice(from, to), NEEDLE);
      const end = after === "" ? NEEDLE : `${NEEDLE}${after.slice(0, 80).trimEnd()}…`;
      assert.equal(hit.text, `…${BEFORE.slice(-40).trimStart()}${end}`, `at ${start}`);
      Deno.removeSync(`${home.home}/sessions/${ID}`, { recursive: true });
    }
  }
});

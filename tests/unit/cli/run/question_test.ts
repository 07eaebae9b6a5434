/** The text of a question about a call. */
import assert from "node:assert/strict";
import { questionText } from "../../../../src/cli/run/question.ts";
import type { Styled } from "../../../../src/cli/terminal.ts";
import type { FileChange } from "../../../../src/tools/tool.ts";
import type { Question } from "../../../../src/run/permission_gate.ts";
import { test } from "../../../support/test.ts";

function questionAbout(change: FileChange): Question {
  return {
    subject: { tool: "edit_file", group: "write", target: { kind: "path", path: "a.txt" } },
    argumentsText: "{}",
    change,
    number: 1,
    of: 1,
  };
}

/** The pieces of a question about a change of `a.txt`, each with its colour. */
function piecesOf(change: FileChange): string[] {
  const pieces = questionText(questionAbout(change)) as readonly (string | Styled)[];
  return pieces.map((piece) => typeof piece === "string" ? piece : `${piece.code}:${piece.text}`)
    .filter((piece) => piece !== "  │ " && piece !== "\n");
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");

Deno.test("a change is a diff with three lines around it: removed lines are red, added ones green", () => {
  const before = numbered(20);
  const pieces = piecesOf({ before, after: before.replace("10\n", "ten\nTEN\n"), isPart: false });
  assert.deepEqual(pieces, [
    "1:\nThe model wants to change a.txt (edit_file):\n",
    "36:line 7",
    ...["  7", "  8", "  9", "31:- 10", "32:+ ten", "32:+ TEN", "  11", "  12", "  13"],
  ]);
});

Deno.test("a change in two places has the line number of each", () => {
  const before = numbered(40);
  const pieces = piecesOf({
    before,
    after: before.replace("5\n", "five\n").replace("30\n", "thirty\n"),
    isPart: false,
  });
  assert.deepEqual(pieces.filter((piece) => piece.startsWith("36:")), ["36:line 2", "36:line 27"]);
});

Deno.test("a long diff is cut after 60 lines, and says how many are missing", () => {
  const pieces = piecesOf({ before: numbered(100), after: "", isPart: false });
  assert.equal(pieces.length, 1 + 60 + 1);
  assert.match(pieces.at(-1) ?? "", /^2:… \d+ more lines$/);
});

test.long("texts with little in common are shown in bounded time, as removed and added", () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `a${index}\n`).join("");
  const after = Array.from({ length: 20_000 }, (_, index) => `b${index}\n`).join("");
  const pieces = piecesOf({ before, after, isPart: false });
  assert.deepEqual(pieces.slice(1, 3), ["36:line 1", "31:- a0"]);
  assert.match(pieces.at(-1) ?? "", /^2:… 39941 more lines$/);
});

Deno.test("a long line is cut, and says how many characters are missing", () => {
  const pieces = piecesOf({ before: null, after: "x".repeat(500), isPart: false });
  assert.equal(pieces[1], `32:+ ${"x".repeat(400)} … 100 more characters`);
});

Deno.test("an empty new file, and a change that changes nothing, are named", () => {
  assert.equal(piecesOf({ before: null, after: "", isPart: false })[1], "2:(empty)");
  assert.equal(piecesOf({ before: "a\n", after: "a\n", isPart: false })[1], "2:(no difference)");
});

Deno.test("a change of the last line's end alone is shown", () => {
  const pieces = piecesOf({ before: "a\nb", after: "a\nb\n", isPart: false });
  assert.ok(pieces.some((piece) => piece.includes("No newline at end of file")), pieces.join("|"));
});

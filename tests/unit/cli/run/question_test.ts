/** Questions about calls: diffs at the edges of a file, and keys in pieces; tests/cli/binary/ask_test.ts has the rest. */
import assert from "node:assert/strict";
import { questionText } from "../../../../src/cli/run/question.ts";
import type { Styled } from "../../../../src/cli/terminal.ts";
import type { FileChange } from "../../../../src/tools/tool.ts";
import { Output } from "../../../../src/cli/output.ts";
import { askAtTerminal } from "../../../../src/cli/run/ask.ts";
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

Deno.test("a change in two places has the line number of each", () => {
  const before = numbered(40);
  const pieces = piecesOf({
    before,
    after: before.replace("5\n", "five\n").replace("30\n", "thirty\n"),
    isPart: false,
  });
  assert.deepEqual(pieces.filter((piece) => piece.startsWith("36:")), ["36:line 2", "36:line 27"]);
});

test.long("texts with little in common are shown in bounded time, as removed and added", () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `a${index}\n`).join("");
  const after = Array.from({ length: 20_000 }, (_, index) => `b${index}\n`).join("");
  const pieces = piecesOf({ before, after, isPart: false });
  assert.deepEqual(pieces.slice(1, 3), ["36:line 1", "31:- a0"]);
  assert.match(pieces.at(-1) ?? "", /^2:… 39941 more lines$/);
});

Deno.test("an empty new file, and a change that changes nothing, are named", () => {
  assert.equal(piecesOf({ before: null, after: "", isPart: false })[1], "2:(empty)");
  assert.equal(piecesOf({ before: "a\n", after: "a\n", isPart: false })[1], "2:(no difference)");
});

Deno.test("a change of the last line's end alone is shown", () => {
  const pieces = piecesOf({ before: "a\nb", after: "a\nb\n", isPart: false });
  assert.ok(pieces.some((piece) => piece.includes("No newline at end of file")), pieces.join("|"));
});

test.long("an escape sequence in pieces is no answer, and single keys are passed on only while the question waits", async () => {
  const pieces = ["\x1b", "[", "y", "n"];
  const modes: boolean[] = [];
  let shown = "";
  let asked = 0;
  const stderr = {
    isTerminal: () => true,
    writeSync(bytes: Uint8Array) {
      const text = new TextDecoder().decode(bytes);
      shown += text;
      if (text.includes("Allow?")) asked++;
      wake();
      return bytes.length;
    },
  };
  let wake = () => {};
  const read = async (buffer: Uint8Array) => {
    // All but the last piece come when the question is there, and that one at its second time.
    while (pieces.length <= (asked === 1 ? 1 : asked === 2 ? 0 : pieces.length)) {
      await new Promise<void>((resolve) => wake = resolve);
    }
    return new TextEncoder().encodeInto(pieces.shift() ?? "", buffer).written;
  };
  const output = new Output({ json: false, quiet: false, colour: false }, {
    stdout: stderr,
    stderr,
    exit: () => {},
  });
  const openTerminal = () => ({ read, setRaw: (isOn: boolean) => void modes.push(isOn) });
  const ask = askAtTerminal({ openTerminal }, output, new AbortController().signal);
  assert.deepEqual(modes, []);
  assert.equal(await ask?.(questionAbout({ before: null, after: "", isPart: false })), "no");
  assert.deepEqual([asked, modes], [2, [true, false]], shown);
});

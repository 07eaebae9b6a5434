import assert from "node:assert/strict";
import { diffText } from "../../../src/cli/changed_lines.ts";
import { test } from "../../support/test.ts";

/** An edit as the lines of a diff. */
function diff(before: string, after: string): string[] {
  return diffText(before, after).split("\n");
}

Deno.test("lines that an edit keeps are unchanged, also if it ends within a line", () => {
  assert.deepEqual(diff("a\nb\nc", "a\nB\nc"), [" a", "-b", "+B", " c"]);
  assert.deepEqual(diff("a\nb", "a\nb\nc\n"), [" a", " b", "+c"]);
});

Deno.test("a change has three lines around it, and the place of what is left out", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
  assert.deepEqual(diff(lines.join("\n"), lines.with(19, "another").join("\n")), [
    "@ lines 17-23, now 17-23",
    ...[" line 17", " line 18", " line 19", "-line 20", "+another", " line 21", " line 22", " line 23"],
  ]);
});

Deno.test("a new file is added lines, a deleted text removed ones, and an edit of the last line end is both", () => {
  assert.deepEqual(diff("", "a\n\nb\n"), ["+a", "+", "+b"]);
  assert.deepEqual(diff("a\nb\n", ""), ["-a", "-b"]);
  assert.deepEqual(diff("a", "a\n"), ["-a", "+a"]);
});

test.long("texts of thousands of different lines are compared in a moment, as a whole", () => {
  const lines = (letter: string) => Array.from({ length: 5000 }, (_, line) => `${letter}${line}\n`).join("");
  const made = diff(lines("a"), lines("b"));
  assert.equal(made.length, 10_000);
  assert.deepEqual([made[0], made[5000]], ["-a0", "+b0"]);
});

import assert from "node:assert/strict";
import { diffText, editOf } from "../../../../src/cli/html/edits.ts";
import { test } from "../../../support/test.ts";

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);

Deno.test("a change shows its lines with three lines around them, and names the place of what is left out", () => {
  const after = LINES.with(19, "another").join("\n");
  assert.deepEqual(diffText(LINES.join("\n"), after).split("\n"), [
    "@ lines 17-23, now 17-23",
    " line 17",
    " line 18",
    " line 19",
    "-line 20",
    "+another",
    " line 21",
    " line 22",
    " line 23",
  ]);
});

test.long("texts with too many differences are shown one after the other", () => {
  const before = Array.from({ length: 3000 }, (_, index) => `a${index}`);
  const after = before.map((line) => `b${line}`);
  const lines = diffText(before.join("\n"), after.join("\n")).split("\n");
  assert.deepEqual(lines, [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)]);
});

Deno.test("the edits of our tools and of common agents are recognised, and nothing else", () => {
  for (const [was, is] of [["old_text", "new_text"], ["old_string", "new_string"], ["old_str", "new_str"]]) {
    const args = JSON.stringify({ path: "a.ts", [was as string]: "one\n", [is as string]: "two\n" });
    assert.deepEqual(editOf("edit_file", args), { path: "a.ts", diff: "-one\n+two" });
  }
  const content = JSON.stringify({ path: "b.ts", content: "one\ntwo\n" });
  assert.deepEqual(editOf("write_file", content), { path: "b.ts", diff: "+one\n+two" });
  assert.equal(editOf("read_file", content), null);
  assert.equal(editOf("shell", '{"command":"ls"}'), null);
  assert.equal(editOf("edit_file", "not JSON"), null);
  const patch = "*** Begin Patch\n*** Update File: a\n-b\n+c\n*** End Patch";
  assert.deepEqual(editOf("apply_patch", patch), {
    path: null,
    diff: "@ Begin Patch\n@ Update File: a\n-b\n+c\n@ End Patch",
  });
});

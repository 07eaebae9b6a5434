/** The output of a call as far as it is shown. */
import assert from "node:assert/strict";
import { deniedLines, ShownOutput } from "../../../../src/cli/run/tool_view.ts";

function shown(...pieces: readonly string[]): string {
  const output = new ShownOutput();
  return pieces.map((piece) => output.next(piece)).join("");
}

Deno.test("output is the same however it is cut into pieces, except that a carriage return may end one", () => {
  assert.equal(shown("one\ntw", "o\nthree"), "  │ one\n  │ two\n  │ three");
  assert.equal(shown(..."one\ntwo\nthree"), shown("one\ntwo\nthree"));
  assert.equal(shown("10%\r20%\r\ndone\n"), "  │ 10%\n  │ 20%\n  │ done\n");
});

Deno.test("output ends after 20 lines, once", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`);
  const text = shown(...lines);
  assert.ok(text.endsWith("  │ 20\n  │ …\n"), text);
  assert.equal(shown(lines.join("")), text);
});

Deno.test("output ends after 4,000 characters, also without a line end", () => {
  const text = shown("x".repeat(3999), "yy", "zz\n");
  assert.equal(text, `  │ ${"x".repeat(3999)}\n  │ …\n`);
});

Deno.test("at most ten denied calls are named, equal ones once", () => {
  const call = (target: string) => ({
    tool: "shell",
    call_id: "c",
    target,
    reason: "not_allowed",
    rule: null,
    allow: "shell",
  });
  const calls = Array.from({ length: 12 }, (_, index) => call(`touch ${index % 12}`));
  assert.equal(deniedLines([...calls, ...calls]).length, 11);
  assert.equal(deniedLines([...calls, ...calls]).at(-1), "denied: 2 more calls");
  assert.equal(deniedLines([call("a\nb")])[0], "denied: shell a b (not allowed); to allow it: --allow shell");
});

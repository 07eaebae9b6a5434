import assert from "node:assert/strict";
import fc from "fast-check";
import { cutLine, finishText, headAndTail, shownPath } from "../../../src/tools/output.ts";

Deno.test("output that fits is shown unchanged and kept nowhere else", () => {
  assert.deepEqual(finishText({ status: "ok", text: "hello" }, 5), { status: "ok", output: "hello" });
});

Deno.test("output that is too long keeps head and tail, says how much is missing, and is kept whole", () => {
  const text = `start ${"x".repeat(5000)} end`;
  const { output, full } = finishText({ status: "ok", text }, 1000);
  assert(output.length <= 1000);
  assert(output.startsWith("start x") && output.endsWith("x end"));
  const [, missing] = /\[… (\d+) characters left out here/.exec(output) ?? [];
  const shown = output.replace(/\n\[… .* …\]\n/, "");
  assert.equal(shown.length + Number(missing), text.length);
  assert.equal(new TextDecoder().decode(full?.bytes), text);
  assert.equal(full?.lossy, false);
});

Deno.test("output is well-formed and within its limit wherever the cut falls", () => {
  const text = fc.array(fc.constantFrom("a", "\n", "é", "😀", "👩‍👧", "\ud83d", "\ude00"), { maxLength: 400 })
    .map((parts) => parts.join(""));
  fc.assert(fc.property(text, fc.integer({ min: 0, max: 300 }), (whole, limit) => {
    const { output, full } = finishText({ status: "ok", text: whole }, limit);
    assert(output.isWellFormed());
    assert(output.length <= limit);
    const kept = full === undefined ? output : new TextDecoder().decode(full.bytes);
    assert.equal(kept, whole.toWellFormed());
  }));
});

Deno.test("output that is cut inside a surrogate pair loses the pair, not half of it", () => {
  const pairs = "😀".repeat(500);
  for (let limit = 90; limit < 130; limit++) {
    const cut = headAndTail(pairs, limit);
    assert(cut.isWellFormed() && cut.length <= limit, String(limit));
  }
  assert.equal(cutLine("a😀b", 2), "a [… 3 more characters in this line]");
});

Deno.test("output shows a name with a line break as one line", () => {
  assert.equal(shownPath("src/main.ts"), "src/main.ts");
  assert.equal(shownPath("a\nb"), '"a\\nb"');
  assert.equal(shownPath("a\u001b[31m"), '"a\\u001b[31m"');
  assert.equal(shownPath(" a"), '" a"');
});

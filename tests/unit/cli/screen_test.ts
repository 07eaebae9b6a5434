import assert from "node:assert/strict";
import * as fc from "fast-check";
import stringWidth from "string-width";
import { cutLine, screenOf, wrappedLines } from "../../../src/cli/screen.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const NARROW = await screenOf(20);

Deno.test("a text is broken between words, and its indentation stays", () => {
  assert.deepEqual(wrappedLines("  one two three four five six\n\nseven", 12, NARROW), [
    "  one two",
    "three four",
    "five six",
    "",
    "seven",
  ]);
});

Deno.test("a word longer than a line is broken, but no emoji, cluster or letter with its marks", () => {
  assert.deepEqual(wrappedLines("abcdefgh", 3, NARROW), ["abc", "def", "gh"]);
  assert.deepEqual(wrappedLines("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 4, NARROW), ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]);
  assert.deepEqual(wrappedLines("漢字漢字", 5, NARROW), ["漢字", "漢字"]);
  assert.deepEqual(
    wrappedLines("éé".normalize("NFD"), 1, NARROW),
    ["é", "é"].map((text) => text.normalize("NFD")),
  );
});

Deno.test("Persian text is broken at spaces, never at a zero-width non-joiner", () => {
  const text = "می‌خواهم این متن را بخوانم";
  const lines = wrappedLines(text, 12, NARROW);
  assert.equal(lines.join(" "), text);
  assert.ok(lines.length > 1 && lines.every((line) => stringWidth(line) <= 12), lines.join("|"));
});

Deno.test("a tab moves to its next stop", () => {
  assert.deepEqual(wrappedLines("1\talpha\tb", 40, NARROW), ["1       alpha   b"]);
});

Deno.test("no line is wider than the terminal, nothing but space is lost, and nothing steers the terminal", () => {
  const letters = fc.constantFrom(
    ...[
      "a",
      "b",
      " ",
      "\n",
      "\t",
      "漢",
      "👩‍💻",
      "🇩🇪",
      "e\u0301",
      "ی",
      "\u200c",
      "\x1b[2J",
      "\u202e",
      "\r",
      "\u{e0041}",
    ],
  );
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 80 }), fc.integer({ min: 12, max: 30 }), (parts, columns) => {
      const text = parts.join("");
      const lines = wrappedLines(text, columns, NARROW);
      for (const line of lines) {
        assert.ok(stringWidth(line) <= columns, JSON.stringify([line, columns]));
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
      }
      const dense = (shown: string) => shown.replace(/\s/g, "");
      assert.equal(dense(lines.join("")), dense(NARROW.visible(text)));
    }),
    { seed: 18, numRuns: samples(10_000) },
  );
});

Deno.test("a line that is cut has an ellipsis, and fits even where wide letters meet the edge", () => {
  assert.equal(cutLine("abcdef", 6, NARROW), "abcdef");
  assert.equal(cutLine("abcdefg", 6, NARROW), "abcde…");
  assert.equal(cutLine("漢字漢字", 6, NARROW), "漢字…");
});

test.long("a long line of marks of one kind is broken as any other", () => {
  for (const text of ["\t", "漢", "ab ", "e\u0301", "👩‍💻"]) {
    const lines = wrappedLines(text.repeat(20_000), 48, NARROW);
    assert.ok(lines.every((line) => stringWidth(line) <= 48), text);
  }
});

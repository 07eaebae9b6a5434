import assert from "node:assert/strict";
import * as fc from "fast-check";
import { styleFor, visibleText } from "../../src/cli/terminal.ts";

const CASES: readonly (readonly [string, string])[] = [
  ["plain text, ünï¢ode, 漢字 and 👩‍💻 stay", "plain text, ünï¢ode, 漢字 and 👩‍💻 stay"],
  ["two\nlines\tand a tab", "two\nlines\tand a tab"],
  ["\x1b[2J\x1b]52;c;ZXZpbA==\x07", "␛[2J␛]52;c;ZXZpbA==␇"], // clears the screen, sets the clipboard
  ["\x1b]8;;http://evil\x1b\\click", "␛]8;;http://evil␛\\click"], // a hyperlink
  ["over\rwritten", "over␍written"],
  ["\x9b31m", "\\u{9b}31m"], // CSI as one C1 character
  ["\u202egnp.exe", "\\u{202e}gnp.exe"], // right-to-left override
  ["a\u200bb\u2066c\ufeffd", "a\\u{200b}b\\u{2066}c\\u{feff}d"],
  ["क्‍ष and نمی‌خواهم", "क्‍ष and نمی‌خواهم"], // ZWJ and ZWNJ carry meaning
  ["\x7f\0", "␡␀"],
];

/** Controls, bidi marks and invisible characters, as Unicode classes them; ZWNJ and ZWJ are harmless. */
const OBEYED = /(?![\u200c\u200d])[\p{Cc}\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

for (const [text, shown] of CASES) {
  Deno.test(`on a terminal ${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () => {
    assert.equal(visibleText(text), shown);
  });
}

Deno.test("nothing that could steer a terminal survives, and a second pass changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const shown = visibleText(text);
      const obeyed = [...shown].filter((letter) => OBEYED.test(letter) && letter !== "\n" && letter !== "\t");
      assert.deepEqual(obeyed, []);
      assert.equal(visibleText(shown), shown);
    }),
    { seed: 17, numRuns: 5000 },
  );
});

Deno.test("styles add escapes only where colour is on", () => {
  assert.equal(styleFor(false).red("x"), "x");
  assert.equal(styleFor(true).red("x"), "\x1b[31mx\x1b[0m");
});

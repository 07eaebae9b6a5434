import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import * as fc from "fast-check";
import { dim, Printer, red, visibleJson, visibleText } from "../../../src/cli/terminal.ts";

const CASES: readonly (readonly [string, string])[] = [
  ["plain text, ünï¢ode, 漢字 and 👩‍💻 stay", "plain text, ünï¢ode, 漢字 and 👩‍💻 stay"],
  ["two\nlines\tand a tab", "two\nlines\tand a tab"],
  ["\x1b[2J\x1b]52;c;ZXZpbA==\x07", "␛[2J␛]52;c;ZXZpbA==␇"], // clears the screen, sets the clipboard
  ["over\rwritten", "over␍written"],
  ["\x9b31m", "\\u{9b}31m"], // CSI as one C1 character
  ["\u202egnp.exe", "\\u{202e}gnp.exe"], // right-to-left override
  ["a\u200bb\u2066c\ufeffd", "a\\u{200b}b\\u{2066}c\\u{feff}d"],
  ["क्‍ष and نمی‌خواهم", "क्‍ष and نمی‌خواهم"], // ZWJ and ZWNJ carry meaning
  ["\x7f\0", "␡␀"],
  ["a\u{e0041}\u{e0042}", "a\\u{e0041}\\u{e0042}"], // tag letters, which spell out hidden text
  ["🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 🏴󠁧󠁢󠁳󠁣󠁴󠁿 stay", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 🏴󠁧󠁢󠁳󠁣󠁴󠁿 stay"], // flags that Unicode recommends
  ["🏴\u{e0061}\u{e007f}", "🏴\\u{e0061}\\u{e007f}"], // no flag: hidden letters
  ["\u3164\uffa0\u115f\u1160\u2800", "\\u{3164}\\u{ffa0}\\u{115f}\\u{1160}\\u{2800}"], // letters that look like space
  ["⚠️ ❤︎ 葛\u{e0100} 한글 ឧទាហរណ៍", "⚠️ ❤︎ 葛\u{e0100} 한글 ឧទាហរណ៍"], // variation selectors choose a glyph
  ["\u0600\u06dd\u070f are visible", "\u0600\u06dd\u070f are visible"], // format characters that have a glyph
];

/**
 * Controls, bidi marks and invisible characters, as Unicode classes them; ZWNJ, ZWJ and variation selectors are
 * harmless. Braille's blank is visible to Unicode, and empty on a screen.
 */
const OBEYED = /(?![\u200c\u200d\p{Variation_Selector}])[\p{Cc}\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]/u;

for (const [text, shown] of CASES) {
  test(`on a terminal ${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () => {
    assert.equal(visibleText(text), shown);
  });
}

test.long("nothing that could steer a terminal survives, and a second pass changes nothing", () => {
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

test("JSON on a terminal parses to the same value, with nothing in it that a terminal obeys", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const shown = visibleJson(JSON.stringify({ text }));
      assert.doesNotMatch(shown, OBEYED);
      assert.deepEqual(JSON.parse(shown), { text });
    }),
    { seed: 17, numRuns: 5000 },
  );
});

/** Returns the text that a printer writes to a stream of this kind. */
function printed(isTerminal: boolean, colour: boolean, print: (printer: Printer) => void): string {
  const chunks: Uint8Array[] = [];
  const stream = {
    isTerminal: () => isTerminal,
    // A stream may take fewer bytes than it gets.
    writeSync: (bytes: Uint8Array) => {
      chunks.push(bytes.slice(0, 3));
      return Math.min(3, bytes.length);
    },
  };
  print(new Printer(stream, { colour }));
  return new TextDecoder().decode(new Uint8Array(chunks.flatMap((chunk) => [...chunk])));
}

test.long("text is made visible in time that grows with its length", () => {
  const text = "plain \u{e0041} 漢字 ".repeat(400_000);
  const began = performance.now();
  assert.ok(visibleText(text).length > text.length);
  assert.ok(visibleJson(text).length > text.length);
  assert.ok(performance.now() - began < 5000);
});

test.process("styles add escapes on a terminal with colour only, and let no escape through", () => {
  const print = (printer: Printer) => printer.text([red("a\x1b[5m"), " b ", dim("")]);
  assert.equal(printed(true, true, print), "\x1b[31ma␛[5m\x1b[0m b ");
  assert.equal(printed(true, false, print), "a␛[5m b ");
  assert.equal(printed(false, true, print), "a\x1b[5m b ");
});

test("bytes in parts are shown whole on a terminal, and pass unaltered elsewhere", () => {
  const bytes = new TextEncoder().encode('{"a":"ü\u009b31m\u202e👩"}\n');
  const print = (printer: Printer) => {
    for (const byte of bytes) printer.bytes(new Uint8Array([byte]));
  };
  assert.equal(printed(true, false, print), '{"a":"ü\\u009b31m\\u202e👩"}\n');
  assert.equal(printed(false, false, print), new TextDecoder().decode(bytes));
});

test("a line begins at the start of a line, wherever another program left the cursor, without an empty line", () => {
  for (const left of [0, 1, 42]) {
    let written = "";
    const stream = {
      isTerminal: () => true,
      writeSync: (bytes: Uint8Array) => {
        written += new TextDecoder().decode(bytes);
        return bytes.length;
      },
    };
    new Printer(stream).beginLine();
    // A terminal waits at the end of a full line, and wraps before the next character.
    const columns = written.length - 1;
    assert.equal(written, `${" ".repeat(columns)}\r`);
    const lines = Math.floor((left + columns - 1) / columns);
    assert.equal(lines, left === 0 ? 0 : 1, "the cursor is on the first empty line");
  }
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { commandLine, shellWords } from "../../../../src/tools/permission/shell_words.ts";
import { test } from "../../../support/test.ts";

Deno.test("a command line is split only where a shell would start one program with these words", () => {
  const rows: [string, readonly string[] | null][] = [
    ["git status", ["git", "status"]],
    ["  git\t status ", ["git", "status"]],
    [`echo 'a b' "c d" e'f'"g"`, ["echo", "a b", "c d", "efg"]],
    ["echo '' \"\"", ["echo", "", ""]],
    ["echo '$HOME `id` \\'", ["echo", "$HOME `id` \\"]],
    ["make CC=gcc", ["make", "CC=gcc"]],
    ["CC=gcc make", null],
    ["", null],
    ["   ", null],
    ["'' x", null],
    ['echo "$HOME"', null],
    ['echo "`id`"', null],
    ['echo "a\\"b"', null],
    ["echo 'open", null],
    ["a\nb", null],
    ["a\r", null],
    ["echo a\0b", null],
    ["echo 'a\0b'", null],
    ["cd src", null],
    ["command -v git", null],
    [". ./env", null],
    ["if true", null],
    ...[..."|&;<>()$`\\*?[]{}~!#"].map((letter): [string, null] => [`echo a${letter}b`, null]),
  ];
  for (const [line, words] of rows) assert.deepEqual(shellWords(line), words, JSON.stringify(line));
});

test.long({
  name: "words are those that sh itself makes of the line",
  ignore: Deno.build.os === "windows",
  fn() {
    const words = ["a", "b c", "é", "'x y'", '"p q"', "'", '"', " ", "\t"];
    const part = fc.constantFrom(...words, ..."= - % ^ $ \\ *".split(" "));
    const lines = fc.sample(fc.array(part, { maxLength: 8 }).map((parts) => `echo ${parts.join("")}`), {
      numRuns: 400,
      seed: 7,
    });
    const clear = lines.flatMap((line) => {
      const words = shellWords(line);
      return words === null ? [] : [{ line, words: words.slice(1) }];
    });
    assert(clear.length > 50, String(clear.length));
    // One sh for all of them: each line's words, ended by a NUL each, and an empty one after each line.
    const script = `show() { for word in "$@"; do printf '<%s>\\0' "$word"; done; printf '\\0'; }\n` +
      clear.map(({ line }) => line.replace("echo", "show")).join("\n");
    const { stdout } = new Deno.Command("/bin/sh", { args: ["-c", script] }).outputSync();
    const expected = clear.map(({ words }) => [...words.map((word) => `<${word}>\0`), "\0"].join("")).join(
      "",
    );
    assert.equal(new TextDecoder().decode(stdout), expected);
  },
});

Deno.test("words as a command line are split into equal words again, by us or by a shell", () => {
  const argv = fc.array(fc.string({ unit: fc.constantFrom("a", " ", '"', "$", ";", "\n", "=", "*", "") }), {
    minLength: 1,
  });
  fc.assert(fc.property(argv, (words) => {
    const line = commandLine(["prog", ...words]);
    if (words.some((word) => word.includes("'"))) return;
    assert.deepEqual(shellWords(line), ["prog", ...words]);
  }));
  assert.equal(commandLine(["a'b", "c d", "", "-x=1"]), `'a'\\''b' 'c d' '' -x=1`);
  assert.equal(commandLine(["A=1", "x"]), "'A=1' x");
});

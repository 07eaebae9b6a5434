import assert from "node:assert/strict";
import fc from "fast-check";
import { lineMatches, searchText, textMatcher } from "../../../../src/tools/reading/search_text.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

type Args = { pattern: string; path?: string; glob?: string; ignore_case?: boolean };
const call = (workspace: Workspace, { pattern, path, glob, ignore_case }: Args) =>
  searchText.run(
    { pattern, path: path ?? null, glob: glob ?? null, ignore_case: ignore_case ?? null },
    workspace.context(),
  );

const TREE = {
  "src/b.ts": "const x = 1;\nfoo(x);\r\n// Foo again: foo foo",
  "src/a.md": "no match here\n",
  "a.txt": "foo\n",
  ".git/HEAD": "foo",
  "node_modules/m/i.js": "foo",
  "bin": new Uint8Array([0x66, 0x6f, 0x6f, 0]),
  "loop": { link: "." },
};

test.long("search_text reports each line that holds the text once, by path and line", async () => {
  using workspace = new Workspace(TREE);
  workspace.makeFifo("pipe");
  const { status, output } = await call(workspace, { pattern: "foo" });
  assert.equal(status, "ok");
  assert.deepEqual(output.split("\n"), [
    "a.txt:1:foo",
    "src/b.ts:2:foo(x);",
    "src/b.ts:3:// Foo again: foo foo",
    "[Not searched: 1 binary]",
  ]);
});

Deno.test("search_text narrows by path, glob and case", async () => {
  using workspace = new Workspace(TREE);
  assert.equal(
    (await call(workspace, { pattern: "FOO", path: "src/b.ts", ignore_case: true })).output.split("\n")
      .length,
    2,
  );
  assert.equal(
    (await call(workspace, { pattern: "foo", glob: "*.md" })).output,
    "[No line holds the text; 1 file searched]",
  );
  assert.match(
    (await call(workspace, { pattern: "FOO", path: "src" })).output,
    /No line holds the text; 2 files/,
  );
});

Deno.test("search_text takes its pattern literally", async () => {
  using workspace = new Workspace({ "a": "a.c\nabc\n(x+)*$\n" });
  assert.equal((await call(workspace, { pattern: "a.c" })).output, "a:1:a.c");
  assert.equal((await call(workspace, { pattern: "(x+)*$" })).output, "a:3:(x+)*$");
});

Deno.test("search_text refuses patterns that cannot be in a line", async () => {
  using workspace = new Workspace(TREE);
  for (const pattern of ["", "a\nb"]) assert.equal((await call(workspace, { pattern })).status, "error");
});

Deno.test("search_text finds text in files that are not UTF-8, and says so", async () => {
  using workspace = new Workspace({ "latin": new Uint8Array([0xe9, 0x20, 0x66, 0x6f, 0x6f]) });
  assert.equal(
    (await call(workspace, { pattern: "foo" })).output,
    "latin:1:\ufffd foo\n[1 file with matches not UTF-8: shown with U+FFFD]",
  );
});

Deno.test("search_text finds the mark that replaces undecodable bytes", async () => {
  using workspace = new Workspace({ "latin": new Uint8Array([0x61, 0xe9, 0x62]) });
  assert.match((await call(workspace, { pattern: "a\ufffdb" })).output, /^latin:1:a\ufffdb\n/);
});

Deno.test("search_text stops at its cap and says so", async () => {
  using workspace = new Workspace({ "a": "foo\n".repeat(1500), "b": "foo" });
  const { output } = await call(workspace, { pattern: "foo" });
  const lines = output.split("\n");
  assert.equal(lines.length, 1001);
  assert.equal(lines[999], "a:1000:foo");
  assert.match(lines[1000] ?? "", /^\[Stopped after 1000 lines/);
});

Deno.test("search_text shows the neighbourhood of a match in a long line, well-formed", async () => {
  using workspace = new Workspace({ "min.js": `${"😀".repeat(500)}needle${"😀".repeat(500)}` });
  const { output } = await call(workspace, { pattern: "needle" });
  assert.match(output, /^min\.js:1:…(😀)+needle(😀)+…$/u);
  assert(output.length < 500);
});

Deno.test("search_text agrees with a split and a scan", () => {
  const text = fc.array(fc.constantFrom("a", "A", "b", "\n", "é", "É", "İ", "\ufffd"), { maxLength: 60 });
  const pattern = fc.array(fc.constantFrom("a", "A", "b", "é"), { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(text, pattern, fc.boolean(), (parts, letters, ignoreCase) => {
    const whole = parts.join("");
    const wanted = letters.join("");
    const fold = (s: string) => ignoreCase ? s.toLowerCase() : s;
    const expected = whole.split("\n").flatMap((line, index) =>
      fold(line).includes(fold(wanted)) ? [index + 1] : []
    );
    const matcher = textMatcher(wanted, { ignoreCase });
    assert.deepEqual(lineMatches(whole, matcher, 1000).map((match) => match.line), expected);
    if (expected.length > 0) assert(matcher.mayMatch(new TextEncoder().encode(whole)));
  }));
});

Deno.test("search_text stops when the run is aborted and leaves nothing open", async () => {
  using workspace = new Workspace();
  for (let file = 0; file < 500; file++) workspace.write(`f${file}`, "text");
  const controller = new AbortController();
  const running = searchText.run(
    { pattern: "x", path: null, glob: null, ignore_case: null },
    workspace.context({ signal: controller.signal }),
  );
  setTimeout(() => controller.abort(new Error("stop")), 2);
  await assert.rejects(running, /stop/);
});

import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { editFile, occurrencesOf } from "../../../../src/tools/writing/edit_file.ts";
import { type Content, Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

async function edit(content: Content, old_text: string, new_text: string) {
  using workspace = new Workspace({ "a.txt": content });
  const { status, output } = await editFile.run({ path: "a.txt", old_text, new_text }, workspace.context());
  return { status, output, after: Deno.readTextFileSync(join(workspace.root, "a.txt")) };
}

Deno.test("edit_file replaces the one place, and takes the new text letter by letter", async () => {
  const { status, output, after } = await edit("one\ntwo\nthree\n", "two\n", "$& $1 $$\n2\n");
  assert.equal(status, "ok");
  assert.equal(output, "Edited a.txt: from line 2 on, 2 line(s) replaced by 3");
  assert.equal(after, "one\n$& $1 $$\n2\nthree\n");
});

Deno.test("edit_file keeps every other byte: byte order mark, CR LF, no newline at the end", async () => {
  const { after } = await edit("\ufeffone\r\ntwo\r\nthree", "two", "2");
  assert.equal(after, "\ufeffone\r\n2\r\nthree");
});

Deno.test("edit_file refuses a text that occurs more than once, and names the lines", async () => {
  const { status, output, after } = await edit("x = 1\ny = 2\nx = 1\n", "x = 1", "x = 3");
  assert.equal(status, "error");
  assert.match(output, /^Cannot edit "a\.txt": old_text occurs 2 times, at lines 1, 3: take in more/);
  assert.equal(after, "x = 1\ny = 2\nx = 1\n");
  assert.match((await edit("aaa", "aa", "b")).output, /2 times, at lines 1, 1/);
  assert.match(
    (await edit("a\n".repeat(50), "a", "b")).output,
    /50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more/,
  );
});

Deno.test("edit_file names the nearest lines when a text does not occur", async () => {
  const { output } = await edit(
    "function alpha() {\n  return 1;\n}\nfunction beta() {\n",
    "function  alpha () {\n",
    "x",
  );
  assert.match(
    output,
    /old_text does not occur; the lines most like its first are line 1: "function alpha\(\) \{"/,
  );
  assert.match((await edit("abc\n", "completely different", "x")).output, /nor does a line like its first/);
  assert.match((await edit("a\r\nb\r\n", "a\nb", "x")).output, /lines end in LF, those of the file in CR LF/);
  assert.match((await edit("abc\n", "\n\n\n", "x")).output, /nor does a line like its first/);
});

Deno.test("edit_file refuses what it would harm", async () => {
  const rows: [Content, string, string, RegExp][] = [
    ["a", "", "b", /old_text is empty/],
    ["a", "a", "a", /are the same/],
    ["a", "a", "\udc00", /new_text is not valid Unicode/],
    [new Uint8Array([97, 0xff]), "a", "b", /not UTF-8: an edit would lose bytes/],
    [new Uint8Array([97, 0]), "a", "b", /binary file/],
    [new Uint8Array(17 * 1024 * 1024).fill(97), "a", "b", /at most 16777216 are edited/],
  ];
  for (const [content, old_text, new_text, message] of rows) {
    using workspace = new Workspace({ "a.txt": content });
    const { status, output } = await editFile.run({ path: "a.txt", old_text, new_text }, workspace.context());
    assert.equal(status, "error");
    assert.match(output, message);
  }
  using workspace = new Workspace();
  const { output } = await editFile.run({ path: "b.txt", old_text: "a", new_text: "b" }, workspace.context());
  assert.match(output, /no such file \(create it with write_file\)/);
});

test.long("edit_file refuses FIFOs, links and ways out, and does not wait for them", async () => {
  using workspace = new Workspace();
  const canary = workspace.writeOutside("canary.txt", "canary");
  workspace.write("out-file", { link: canary });
  workspace.write("out", { link: workspace.outside });
  workspace.makeFifo("fifo");
  for (const path of ["fifo", "out-file", "out/canary.txt", "../project-secrets/canary.txt"]) {
    const { status, output } = await editFile.run(
      { path, old_text: "canary", new_text: "x" },
      workspace.context(),
    );
    assert.equal(status, "error", path);
    assert(!output.includes("occurs"), output);
  }
  assert.equal(Deno.readTextFileSync(canary), "canary");
});

Deno.test("occurrences name index and line of every place", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "\n"), { maxLength: 60 }).map((parts) => parts.join(""));
  const wanted = fc.array(fc.constantFrom("a", "b", "\n"), { minLength: 1, maxLength: 3 }).map((parts) =>
    parts.join("")
  );
  fc.assert(fc.property(letters, wanted, (text, part) => {
    const expected = [...text].flatMap((_, index) =>
      text.startsWith(part, index) ? [{ index, line: text.slice(0, index).split("\n").length }] : []
    );
    assert.deepEqual(occurrencesOf(text, part, 1000), { count: expected.length, places: expected });
  }));
});

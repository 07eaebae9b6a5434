/** Calls of the tools that read, search and edit, with their results. */
import type { Json } from "../../support/files.ts";
import type { Content } from "./workplace.ts";

/** A call and its result. */
export interface Row {
  readonly files: Readonly<Record<string, Content>>;
  readonly args: Json;
  readonly says: string | RegExp;
  /** @default {"ok"} */
  readonly status?: "ok" | "error";
  /** Content of files that the call changes. */
  readonly after?: Readonly<Record<string, string>>;
}
type Rows = Readonly<Record<string, Row>>;

const on = (files: Row["files"], args: Json, says: string | RegExp, status: "ok" | "error" = "ok"): Row => ({
  files,
  args,
  says,
  status,
});
const read = (content: Content, args: Json, says: string | RegExp, status?: "error"): Row =>
  on({ f: content }, { path: "f", ...args }, says, status);

/** Rows of read_file. */
export const READS: Rows = {
  "lines are numbered": read("one\ntwo\nthree\n", {}, "1\tone\n2\ttwo\n3\tthree"),
  "the next offset is named": read(
    "one\ntwo\nthree\n",
    { limit: 2 },
    "1\tone\n2\ttwo\n[Lines 1 to 2 of 3; continue with offset 3]",
  ),
  "an empty file is said to be empty": read("", {}, "[The file is empty]"),
  "CR LF stays": read("a\r\nb\r\n", {}, "1\ta\r\n2\tb\r"),
  "a window after the end is an error": read(
    "one\ntwo",
    { offset: 3 },
    "Cannot read from line 3: the file has 2 lines",
    "error",
  ),
  "the first line has the number 1": read("a", { offset: 0 }, /lines count from 1/, "error"),
  "the last line alone": read("one\ntwo\n", { offset: 2, limit: 1 }, "2\ttwo"),
  "the one before the last": read(
    "one\ntwo\n",
    { offset: 1, limit: 1 },
    "1\tone\n[Lines 1 to 1 of 2; continue with offset 2]",
  ),
  "a line of 2,000 characters is whole, a longer one is cut": read(
    `${"x".repeat(2000)}\n${"y".repeat(2001)}\n`,
    {},
    `1\t${"x".repeat(2000)}\n2\t${"y".repeat(2000)} [… 1 more characters in this line]`,
  ),
  "a NUL in the first 8 KiB makes a file binary": read(
    `${"x".repeat(8191)}\0`,
    {},
    "Cannot read f: it is a binary file of 8192 bytes",
    "error",
  ),
  "a path of 4,096 characters": read("a", { path: `${"./".repeat(2047)}/f` }, "1\ta"),
  "a longer path is refused": read(
    "a",
    { path: `${"./".repeat(2048)}f` },
    "Cannot open a path of 4097 characters: at most 4096 are taken",
    "error",
  ),
  "a result of 32,000 characters is whole": read(
    `${"x".repeat(1998)}\n`.repeat(15) + "y".repeat(32_000 - 15 * 2001 - 6 - 3),
    {},
    new RegExp(`^(?![^]*left out)[^]{32000}$`),
  ),
  "a NUL after the first 8 KiB makes no file binary": read(
    `${"x\n".repeat(4096)}\0`,
    { offset: 4096 },
    "4096\tx\n4097\t\0",
  ),
  "a limit is 1 or more": read("a", { limit: 0 }, /must be 1 or more/, "error"),
  "a directory is no file": read("a", { path: "." }, /it is a directory/, "error"),
  "a missing file is an error": read("a", { path: "gone" }, /no such file/, "error"),
  "a binary file is refused, with its size": read(
    new Uint8Array([1, 2, 0, 3]),
    {},
    "Cannot read f: it is a binary file of 4 bytes",
    "error",
  ),
};

const TREE = {
  "b.ts": "",
  "a-b": "",
  "a/z.ts": "",
  "a/inner/deep.md": "",
  "Z": "",
  ".git/config": "",
  "a/node_modules/x/index.js": "",
  "link": { link: "a" },
  "out": { link: "/etc" },
};
const list = (args: Json, says: string | RegExp, status?: "error") => on(TREE, args, says, status);

/** Rows of list_files. */
export const LISTS: Rows = {
  "everything once, directories before what is in them, in code unit order": list(
    {},
    ".git/ [not entered]\nZ\na/\na/inner/\na/inner/deep.md\na/node_modules/ [not entered]\na/z.ts\na-b\nb.ts\n" +
      "link [link]\nout [link]",
  ),
  "depth ends the walk": list({ path: "a", depth: 1 }, "a/inner/\na/node_modules/ [not entered]\na/z.ts"),
  "a pattern without a slash is about the last name": list({ pattern: "*.ts" }, "a/z.ts\nb.ts"),
  "no match is said": list({ pattern: "*.py" }, "[Nothing fits the pattern]"),
  "a directory that is not entered can be listed itself": list({ path: ".git" }, ".git/config"),
  "a link inside leads to its directory": list({ path: "link", depth: 1, pattern: "*.ts" }, "a/z.ts"),
  "a file is not listed": list({ path: "b.ts" }, /it is a file/, "error"),
  "a link outside is not listed": list({ path: "out" }, /leads outside/, "error"),
  "depth is 1 or more": list({ depth: 0 }, /1 or more/, "error"),
};

const SOURCES = {
  "src/b.ts": "const x = 1;\nfoo(x);\r\n// Foo again: foo foo",
  "src/a.md": "no match here\n",
  "a.txt": "foo\n",
  ".git/HEAD": "foo",
  "node_modules/m/i.js": "foo",
  "bin": new Uint8Array([0x66, 0x6f, 0x6f, 0]),
  "loop": { link: "." },
};
/** Rows of search_text. */
export const SEARCHES: Rows = {
  "each line that holds the text once, by path and line": on(
    SOURCES,
    { pattern: "foo" },
    "a.txt:1:foo\nsrc/b.ts:2:foo(x);\nsrc/b.ts:3:// Foo again: foo foo\n[Not searched: 1 binary]",
  ),
  "a glob": on(SOURCES, { pattern: "foo", glob: "*.md" }, "[No line holds the text; 1 file searched]"),
  "a pattern is no expression": on({ a: "x\n(x+)*$\n" }, { pattern: "(x+)*$" }, "a:2:(x+)*$"),
  "an empty pattern is refused": on(SOURCES, { pattern: "" }, /^Cannot/, "error"),
  "a pattern of two lines is refused": on(SOURCES, { pattern: "a\nb" }, /^Cannot/, "error"),
  "a last line of one letter": on({ a: "x\nb" }, { pattern: "b" }, "a:2:b"),
  "a line of 400 characters is shown whole, a longer one in part": on(
    { a: `foo${"x".repeat(397)}\nfoo${"x".repeat(398)}\n` },
    { pattern: "foo" },
    `a:1:foo${"x".repeat(397)}\na:2:foo${"x".repeat(297)}…`,
  ),
  "a letter that stands for bytes that are not UTF-8": on(
    { latin: new Uint8Array([0x61, 0xe9]), other: "a" },
    { pattern: "\ufffd" },
    "latin:1:a\ufffd\n[1 file with matches not UTF-8: shown with U+FFFD]",
  ),
  "a file that is not UTF-8 is searched, and said to be": on(
    { latin: new Uint8Array([0xe9, 0x20, 0x66, 0x6f, 0x6f]) },
    { pattern: "foo" },
    "latin:1:\ufffd foo\n[1 file with matches not UTF-8: shown with U+FFFD]",
  ),
  "a match in a long line is shown with its neighbourhood": on(
    { "min.js": `${"😀".repeat(500)}needle${"😀".repeat(500)}` },
    { pattern: "needle" },
    /^min\.js:1:…(😀){20,}needle(😀){20,200}…$/u,
  ),
};

const edit = (
  before: Content,
  [old_text, new_text]: readonly [string, string],
  says: string | RegExp,
  after?: string,
): Row => ({
  files: { "a.txt": before },
  args: { path: "a.txt", old_text, new_text },
  says,
  ...after === undefined ? { status: "error" } : { after: { "a.txt": after } },
});

/** Rows of edit_file. */
export const EDITS: Rows = {
  "the one place is replaced, by the new text letter by letter": edit(
    "one\ntwo\nthree\n",
    ["two\n", "$& $1 $$\n2\n"],
    "Edited a.txt: from line 2 on, 2 line(s) replaced by 3",
    "one\n$& $1 $$\n2\nthree\n",
  ),
  "every other byte stays: byte order mark, CR LF, no newline at the end": edit(
    "\ufeffone\r\ntwo\r\nthree",
    ["two", "2"],
    /^Edited/,
    "\ufeffone\r\n2\r\nthree",
  ),
  "a text that occurs twice is refused, with its lines": edit(
    "x = 1\ny = 2\nx = 1\n",
    ["x = 1", "x = 3"],
    /^Cannot edit "a\.txt": old_text occurs 2 times, at lines 1, 3: take in more/,
  ),
  "a text that does not occur is refused, with the nearest line": edit(
    "function alpha() {\n  return 1;\n}\nfunction beta() {\n",
    ["function  alpha () {\n", "x"],
    /old_text does not occur; the lines most like its first are line 1: "function alpha\(\) \{"/,
  ),
  "other line ends are named": edit(
    "a\r\nb\r\n",
    ["a\nb", "x"],
    /lines end in LF, those of the file in CR LF/,
  ),
  "an empty text is refused": edit("a", ["", "b"], /old_text is empty/),
  "a file that is not UTF-8 would lose bytes": edit(
    new Uint8Array([97, 0xff]),
    ["a", "b"],
    /not UTF-8: an edit would lose bytes/,
  ),
  "a missing file is created by another tool": {
    files: {},
    args: { path: "b.txt", old_text: "a", new_text: "b" },
    says: /no such file \(create it with write_file\)/,
    status: "error",
  },
};

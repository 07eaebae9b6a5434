import assert from "node:assert/strict";
import { type Column, tableLines } from "../../../src/cli/table.ts";
import { PLAIN_SCREEN, screenOf } from "../../../src/cli/screen.ts";

interface Row {
  readonly id: string;
  readonly size: number;
  readonly title: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: "ID", cell: ({ id }) => id },
  { header: "SIZE", cell: ({ size }) => `${size} B`, right: true, drop: 1 },
  { header: "TITLE", cell: ({ title }) => title, least: 6, drop: 2 },
];
const ROWS: readonly Row[] = [
  { id: "a", size: 7, title: "Look at the build" },
  { id: "long-id", size: 12345, title: "Fix it" },
];

const TERMINAL = await screenOf(80);

function drawn(columns: number | null, rows = ROWS): string[] {
  const lines = tableLines(COLUMNS, rows, columns === null ? PLAIN_SCREEN : { ...TERMINAL, columns });
  return lines.map((line) => line.map((piece) => typeof piece === "string" ? piece : piece.text).join(""));
}

Deno.test("a table has a header, aligned columns, and whole cells where there is no terminal", () => {
  assert.deepEqual(drawn(null), [
    "ID          SIZE  TITLE",
    "a            7 B  Look at the build",
    "long-id  12345 B  Fix it",
  ]);
});

Deno.test("a table that is too wide for the terminal first cuts what may be cut, then leaves out columns", () => {
  assert.deepEqual(drawn(35), drawn(null));
  assert.equal(drawn(30)[1], "a            7 B  Look at the…");
  assert.deepEqual(drawn(20), ["ID       TITLE", "a        Look at th…", "long-id  Fix it"]);
  assert.deepEqual(drawn(10), ["ID", "a", "long-id"]);
  assert.deepEqual(drawn(3), ["ID", "a", "long-id"], "a name is never cut");
});

Deno.test("no line is wider than the terminal, whatever the script, and letters that it hides are seen", () => {
  const title = "修复构建失败的测试 👩‍👩‍👧 درست کن \u202etxt.exe";
  const rows = [{ id: "a", size: 1, title }, { id: "b", size: 2, title: "two\nlines\tand a tab" }];
  for (let columns = 12; columns < 60; columns++) {
    const lines = drawn(columns, rows);
    assert.equal(lines.length, 3);
    for (const line of lines) assert.ok(TERMINAL.widthOf(line) <= columns, `${columns}: ${line}`);
  }
  assert.match(drawn(200, rows)[1] ?? "", /\\u\{202e\}txt/);
});

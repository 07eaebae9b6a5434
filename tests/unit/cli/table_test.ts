import assert from "node:assert/strict";
import { type Column, tableLines } from "../../../src/cli/table.ts";
import { widthsOf } from "../../../src/cli/text_width.ts";

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

async function drawn(columns: number | null, rows = ROWS): Promise<string[]> {
  const lines = await tableLines(COLUMNS, rows, columns);
  return lines.map((line) => line.map((piece) => typeof piece === "string" ? piece : piece.text).join(""));
}

Deno.test("a table has a header, aligned columns, and whole cells where there is no terminal", async () => {
  assert.deepEqual(await drawn(null), [
    "ID          SIZE  TITLE",
    "a            7 B  Look at the build",
    "long-id  12345 B  Fix it",
  ]);
});

Deno.test("a table that is too wide for the terminal first cuts what may be cut, then leaves out columns", async () => {
  assert.deepEqual(await drawn(35), await drawn(null));
  assert.equal((await drawn(30))[1], "a            7 B  Look at the…");
  assert.deepEqual(await drawn(20), ["ID       TITLE", "a        Look at th…", "long-id  Fix it"]);
  assert.deepEqual(await drawn(10), ["ID", "a", "long-id"]);
  assert.deepEqual(await drawn(3), ["ID", "a", "long-id"], "a name is never cut");
});

Deno.test("no line is wider than the terminal, whatever the script, and letters that it hides are seen", async () => {
  const title = "修复构建失败的测试 👩‍👩‍👧 درست کن \u202etxt.exe";
  const rows = [{ id: "a", size: 1, title }, { id: "b", size: 2, title: "two\nlines\tand a tab" }];
  const widths = await widthsOf([title]);
  for (let columns = 12; columns < 60; columns++) {
    const lines = await drawn(columns, rows);
    assert.equal(lines.length, 3);
    for (const line of lines) assert.ok(widths.of(line) <= columns, `${columns}: ${line}`);
  }
  assert.match((await drawn(200, rows))[1] ?? "", /\\u\{202e\}txt/);
});

/** Tables for people: a header, aligned columns, and as many of them as fit the terminal. */
import type { Output } from "./output.ts";
import { cutLine, type Screen, screenOf } from "./screen.ts";
import { dim, joinedLines, type Styled } from "./terminal.ts";

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => string;
  readonly right?: true;
  /** Order in which columns of a table that is too wide are left out, lowest first; without a number, the column stays. */
  readonly drop?: number;
  /** The least width of a column whose cells may be cut. */
  readonly least?: number;
  /** Number of a colour, as in {@linkcode Styled}; `null` for none. */
  readonly code?: (row: Row) => number | null;
}

/** Columns of rows that are texts already, one for each header. */
export function textColumns(headers: readonly string[]): Column<readonly string[]>[] {
  return headers.map((header, at) => ({ header, cell: (row) => row[at] ?? "" }));
}

interface Laid<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly width: number;
}

const GAP = "  ";
const LINE_BREAKS = /[\n\r\t\v\f\u2028\u2029]+/g;

/**
 * Lays out a table, header first unless it has none, without line ends. For a pipe or file nothing is cut or left out,
 * and the last column is not padded.
 */
export function tableLines<Row>(
  table: readonly Column<Row>[],
  rows: readonly Row[],
  screen: Screen,
  { header = true }: { readonly header?: boolean } = {},
): (string | Styled)[][] {
  const natural = table.map((column): Laid<Row> => {
    const texts = [...(header ? [column.header] : []), ...rows.map(column.cell)];
    const cells = texts.map((text) => screen.visible(text.replace(LINE_BREAKS, " ").trimEnd()));
    return { column, cells, width: cells.reduce((most, cell) => Math.max(most, screen.widthOf(cell)), 0) };
  });
  const laid = screen.columns === null ? natural : fitted(natural, screen.columns, screen);
  const lines = rows.map((row, index) =>
    lineOf(laid, screen, ({ column, cells }) => ({
      text: cells[header ? index + 1 : index] ?? "",
      code: column.code?.(row) ?? null,
    }))
  );
  if (!header) return lines;
  const head = lineOf(laid, screen, ({ cells }) => ({ text: cells[0] ?? "", code: null }));
  return [[dim(head.join(""))], ...lines];
}

/** Prints a table to stdout, as wide as the terminal. */
export async function printTable<Row>(
  output: Output,
  table: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  output.text(joinedLines(tableLines(table, rows, await screenOf(output.columns))));
}

/** A line as few pieces: plain text is joined. */
function lineOf<Row>(
  laid: readonly Laid<Row>[],
  screen: Screen,
  cellOf: (each: Laid<Row>) => { readonly text: string; readonly code: number | null },
): (string | Styled)[] {
  const pieces: (string | Styled)[] = [];
  let plain = "";
  laid.forEach((each, place) => {
    const { text, code } = cellOf(each);
    const isLast = place === laid.length - 1;
    const isRight = each.column.right === true;
    const space = isLast && !isRight ? "" : " ".repeat(Math.max(0, each.width - screen.widthOf(text)));
    if (place > 0) plain += GAP;
    if (isRight) plain += space;
    if (code === null) plain += text;
    else {
      pieces.push(plain, { code, text });
      plain = "";
    }
    if (!isRight) plain += space;
  });
  pieces.push(plain);
  return pieces;
}

/** Leaves out columns until the others fit, and cuts what may be cut. */
function fitted<Row>(laid: readonly Laid<Row>[], columns: number, screen: Screen): readonly Laid<Row>[] {
  const kept = [...laid];
  const droppable = laid.filter(({ column }) => column.drop !== undefined)
    .sort((a, b) => (a.column.drop as number) - (b.column.drop as number));
  const least = ({ column, width }: Laid<Row>) => Math.min(width, column.least ?? width);
  const total = (sizeOf: (each: Laid<Row>) => number) =>
    kept.reduce((sum, each) => sum + sizeOf(each), GAP.length * (kept.length - 1));
  while (total(least) > columns) {
    const next = droppable.shift();
    if (next === undefined) break;
    kept.splice(kept.indexOf(next), 1);
  }
  const excess = Math.max(0, total(({ width }) => width) - columns);
  return kept.map((each) => {
    const { column, cells, width } = each;
    if (column.least === undefined || excess === 0) return each;
    const room = Math.max(least(each), width - excess);
    return { ...each, cells: cells.map((cell) => cutLine(cell, room, screen)), width: room };
  });
}

/** Tables for people: a header, aligned columns, and as many of them as fit the terminal. */
import { dim, type Styled, visibleText } from "./terminal.ts";
import { type TextWidth, widthsOf } from "./text_width.ts";

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

interface Laid<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly width: number;
}

const GAP = "  ";

/**
 * Lays out a table, header first, without line ends. `columns` is the number of columns of the terminal, or `null` for a
 * pipe or file: then nothing is cut or left out.
 */
export async function tableLines<Row>(
  table: readonly Column<Row>[],
  rows: readonly Row[],
  columns: number | null,
): Promise<(string | Styled)[][]> {
  const cells = table.map(({ cell }) => oneLines(rows.map(cell), columns !== null));
  // The last column of a pipe is not padded.
  const widths = await widthsOf((columns === null ? cells.slice(0, -1) : cells).flat());
  const natural = table.map((column, index): Laid<Row> => {
    const own = cells[index] ?? [];
    const isFree = columns === null && index === table.length - 1;
    return { column, cells: own, width: isFree ? 0 : widest([column.header, ...own], widths) };
  });
  const laid = columns === null ? natural : fitted(natural, columns, widths);
  const { code } = dim("");
  return [
    lineOf(laid, widths, ({ column }) => ({ text: column.header, code })),
    ...rows.map((row, index) =>
      lineOf(laid, widths, ({ column, cells }) => ({
        text: cells[index] ?? "",
        code: column.code?.(row) ?? null,
      }))
    ),
  ];
}

/** A line as few pieces: plain text is joined. */
function lineOf<Row>(
  laid: readonly Laid<Row>[],
  widths: TextWidth,
  cellOf: (each: Laid<Row>) => { readonly text: string; readonly code: number | null },
): (string | Styled)[] {
  const pieces: (string | Styled)[] = [];
  let plain = "";
  laid.forEach((each, place) => {
    const { text, code } = cellOf(each);
    const isLast = place === laid.length - 1;
    const isRight = each.column.right === true;
    const space = isLast && !isRight ? "" : " ".repeat(Math.max(0, each.width - widths.of(text)));
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

const ENDS_CELL = "\0";
const LINE_BREAKS = /[\n\r\t\v\f\u2028\u2029]+/g;
/** Finds a cell that {@linkcode oneLine} would change, among cells that are joined. */
const NOT_ONE_LINE = /[\n\r\t\v\f\u2028\u2029]|\s\0/;

/** Cells are one line each, and on a terminal as wide as the printer will make them. */
function oneLines(cells: readonly string[], onTerminal: boolean): readonly string[] {
  // One search through all cells finds that most need no change.
  const lines = NOT_ONE_LINE.test(cells.join(ENDS_CELL) + ENDS_CELL) ? cells.map(oneLine) : cells;
  return onTerminal ? lines.map(visibleText) : lines;
}

function oneLine(text: string): string {
  return text.replace(LINE_BREAKS, " ").trimEnd();
}

/** Leaves out columns until the others fit, and cuts what may be cut. */
function fitted<Row>(laid: readonly Laid<Row>[], columns: number, widths: TextWidth): readonly Laid<Row>[] {
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
    return { ...each, cells: cells.map((cell) => widths.cut(cell, room)), width: room };
  });
}

function widest(texts: readonly string[], widths: TextWidth): number {
  return texts.reduce((most, text) => Math.max(most, widths.of(text)), 0);
}

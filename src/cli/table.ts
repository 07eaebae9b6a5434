/**
 * Tables for people: a header, aligned columns, and as many of them as fit the terminal.
 *
 * @module
 */
import { dim, type Styled, visibleText } from "./terminal.ts";
import { type TextWidth, widthsOf } from "./text_width.ts";

/** A column of a table. */
export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => string;
  readonly right?: true;
  /** Order in which columns of a table that is too wide are left out, lowest first; without a number, the column stays. */
  readonly drop?: number;
  /** The least width of a column whose cells may be cut. */
  readonly least?: number;
  /** Cuts the cells of the column to a width. @default {each at its end} */
  readonly cut?: (cells: readonly string[], width: number, widths: TextWidth) => readonly string[];
  /** Number of a colour, as in {@linkcode Styled}; `null` for none. */
  readonly code?: (row: Row) => number | null;
}

/** A column with its cells as they are shown. */
interface Laid<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly width: number;
}

const GAP = 2;

/**
 * Lays out a table, header first, without line ends. `columns` is the number of columns of the terminal, or `null` for a
 * pipe or file: then nothing is cut or left out.
 */
export async function tableLines<Row>(
  table: readonly Column<Row>[],
  rows: readonly Row[],
  columns: number | null,
): Promise<(string | Styled)[][]> {
  const cells = table.map(({ cell }) => rows.map((row) => oneLine(cell(row), columns !== null)));
  // The last column of a pipe is not padded.
  const widths = await widthsOf((columns === null ? cells.slice(0, -1) : cells).flat());
  const natural = table.map((column, index): Laid<Row> => {
    const own = cells[index] ?? [];
    const isFree = columns === null && index === table.length - 1;
    return { column, cells: own, width: isFree ? 0 : widest([column.header, ...own], widths) };
  });
  const laid = columns === null ? natural : fitted(natural, columns, widths);
  const line = (textOf: (each: Laid<Row>) => { readonly text: string; readonly code: number | null }) =>
    laid.flatMap((each, place): (string | Styled)[] => {
      const { text, code } = textOf(each);
      const space = " ".repeat(Math.max(0, each.width - (text === "" ? 0 : widths.of(text))));
      const shown = code === null ? text : { code, text };
      const padded = each.column.right === true
        ? [space, shown]
        : [shown, place === laid.length - 1 ? "" : space];
      return [place === 0 ? "" : " ".repeat(GAP), ...padded];
    });
  const { code } = dim("");
  return [
    line(({ column }) => ({ text: column.header, code })),
    ...rows.map((row, index) =>
      line(({ column, cells }) => ({ text: cells[index] ?? "", code: column.code?.(row) ?? null }))
    ),
  ];
}

/** A cell is one line, and on a terminal as wide as the printer will make it. */
function oneLine(text: string, onTerminal: boolean): string {
  const line = text.replace(/[\n\r\t\v\f\u2028\u2029]+/g, " ").trimEnd();
  return onTerminal ? visibleText(line) : line;
}

/** Leaves out columns until the others fit, and cuts what may be cut. */
function fitted<Row>(laid: readonly Laid<Row>[], columns: number, widths: TextWidth): readonly Laid<Row>[] {
  const kept = [...laid];
  const droppable = laid.filter(({ column }) => column.drop !== undefined)
    .sort((a, b) => (a.column.drop as number) - (b.column.drop as number));
  const least = ({ column, width }: Laid<Row>) => Math.min(width, column.least ?? width);
  const total = (sizeOf: (each: Laid<Row>) => number) =>
    kept.reduce((sum, each) => sum + sizeOf(each), GAP * (kept.length - 1));
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
    const cut = column.cut ?? ((cells, to) => cells.map((cell) => widths.cut(cell, to)));
    return { ...each, cells: cut(cells, room, widths), width: room };
  });
}

function widest(texts: readonly string[], widths: TextWidth): number {
  return texts.reduce((most, text) => Math.max(most, widths.of(text)), 0);
}

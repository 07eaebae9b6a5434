/** Lines that fit the width of a terminal. */
import { visibleText } from "./terminal.ts";

/** The surface that lines are made for. */
export interface Screen {
  /** Width of a terminal; `null` for a pipe or file, whose lines have any length. */
  readonly columns: number | null;
  /** Text as it is printed: on a terminal with control characters made visible. */
  readonly visible: (text: string) => string;
  /** Columns that a printed text takes. */
  readonly widthOf: (text: string) => number;
}

/** Width of a terminal that does not tell its own. */
const USUAL_COLUMNS = 80;
/** Narrower lines would hold no words. */
const LEAST_COLUMNS = 20;

/** A pipe or file: nothing is wrapped, cut or altered. */
export const PLAIN_SCREEN: Screen = {
  columns: null,
  visible: (text) => text,
  widthOf: (text) => text.length,
};

/** A terminal of this width; `null` if it does not tell. Loads the table of widths. */
export async function terminalScreen(columns: number | null): Promise<Screen> {
  const { default: stringWidth } = await import("string-width");
  return {
    columns: Math.max(LEAST_COLUMNS, columns ?? USUAL_COLUMNS),
    visible: visibleText,
    widthOf: (text) => /^[ -~]*$/.test(text) ? text.length : stringWidth(text),
  };
}

/** The lines of a text, each of at most `columns` columns: broken between words, or inside a longer word. */
export function wrappedLines(text: string, columns: number | null, { visible, widthOf }: Screen): string[] {
  const lines = visible(text).split("\n");
  if (columns === null) return lines;
  return lines.flatMap((line) => {
    const spaced = withoutTabs(line, widthOf);
    return widthOf(spaced) <= columns ? [spaced] : brokenLine(spaced, columns, widthOf);
  });
}

/** A text in one line, cut to a width, with an ellipsis if something is missing. */
export function cutLine(text: string, columns: number | null, { visible, widthOf }: Screen): string {
  const line = visible(text.replace(/[\n\t]/g, " "));
  if (columns === null || widthOf(line) <= columns) return line;
  return `${piecesOf(line, Math.max(0, columns - 1), widthOf)[0] ?? ""}…`;
}

const TAB = 8;

function withoutTabs(line: string, widthOf: Screen["widthOf"]): string {
  if (!line.includes("\t")) return line;
  const [first = "", ...cells] = line.split("\t");
  let column = widthOf(first);
  return first + cells.map((cell) => {
    const space = " ".repeat(TAB - column % TAB);
    column += space.length + widthOf(cell);
    return `${space}${cell}`;
  }).join("");
}

/** Breaks a line that is too long. The spaces at a break are left out; those at the beginning stay. */
function brokenLine(line: string, columns: number, widthOf: Screen["widthOf"]): string[] {
  const lines: string[] = [];
  let current = "";
  let width = 0;
  for (const word of line.match(/^\s*\S+|\s+\S+|\s+$/g) ?? []) {
    const wide = widthOf(word);
    if (width + wide <= columns) {
      current += word;
      width += wide;
      continue;
    }
    if (current !== "") lines.push(current);
    const pieces = piecesOf(current === "" ? word : word.trimStart(), columns, widthOf);
    current = pieces.pop() ?? "";
    width = widthOf(current);
    lines.push(...pieces);
  }
  return [...lines, current];
}

let graphemes: Intl.Segmenter | undefined;

/** A text in pieces of at most `columns` columns. No letter, emoji or cluster is split. */
function piecesOf(text: string, columns: number, widthOf: Screen["widthOf"]): string[] {
  graphemes ??= new Intl.Segmenter();
  const pieces: string[] = [];
  let current = "";
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    const wide = widthOf(segment);
    if (width + wide > columns && current !== "") {
      pieces.push(current);
      [current, width] = ["", 0];
    }
    current += segment;
    width += wide;
  }
  return current === "" ? pieces : [...pieces, current];
}

/**
 * Rows in aligned columns. The last column takes the rest of a terminal's width and is cut there; a pipe or file gets it
 * whole.
 */
export function tableLines(rows: readonly (readonly string[])[], screen: Screen): string[] {
  const shown = rows.map((row) => row.map((cell) => screen.visible(cell.replace(/[\n\t]/g, " "))));
  const widths: number[] = [];
  for (const row of shown) {
    for (const [at, cell] of row.slice(0, -1).entries()) {
      widths[at] = Math.max(widths[at] ?? 0, screen.widthOf(cell));
    }
  }
  return shown.map((row) => {
    const cells = row.slice(0, -1).map((cell, at) =>
      `${cell}${" ".repeat((widths[at] ?? 0) - screen.widthOf(cell))}  `
    );
    return cutLine(`${cells.join("")}${row.at(-1) ?? ""}`, screen.columns, screen).trimEnd();
  });
}

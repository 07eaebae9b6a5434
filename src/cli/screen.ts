/** Lines that fit the width of a terminal. */
import { visibleText } from "./terminal.ts";

/** The surface that lines are made for. */
export interface Screen {
  /** Width of a terminal; `null` for a pipe or file, whose lines have any length. */
  readonly columns: number | null;
  /** Text as it is printed: on a terminal with control characters made visible. */
  readonly visible: (text: string) => string;
  readonly widthOf: (text: string) => number;
}

/** Narrower lines would hold no words. */
const LEAST_COLUMNS = 20;

/** A pipe or file: nothing is wrapped, cut or altered. */
export const PLAIN_SCREEN: Screen = {
  columns: null,
  visible: (text) => text,
  widthOf: (text) => text.length,
};

/** A terminal of this width, for which the table of widths is loaded; with `null` a pipe or file. */
export async function screenOf(columns: number | null): Promise<Screen> {
  if (columns === null) return PLAIN_SCREEN;
  const { default: stringWidth } = await import("string-width");
  return {
    columns: Math.max(LEAST_COLUMNS, columns),
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
  const shown = columns > 1 ? piecesOf(line, columns - 1, widthOf)[0] ?? "" : "";
  return `${shown.trimEnd()}…`;
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

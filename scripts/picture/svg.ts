/**
 * Draws what a terminal shows as an SVG: text that can be selected, in colours for dark and light pages. It loads
 * nothing and runs nothing.
 *
 * @module
 */

/** A colour of the terminal that the picture knows. */
type Colour = "red" | "green" | "yellow" | "cyan" | "grey";

/** Text in one style. */
export interface StyledText {
  readonly text: string;
  readonly colour: Colour | null;
  readonly bold: boolean;
}

/** A line of the terminal, from left to right. */
export type StyledLine = readonly StyledText[];

const COLOURS: Readonly<Record<number, Colour>> = {
  31: "red",
  32: "green",
  33: "yellow",
  36: "cyan",
  90: "grey",
};

/** Sizes in pixels. */
const FONT_SIZE = 14;
const CELL = 8.4;
const LINE = 20;
const MARGIN = 20;
const BAR = 36;

// deno-lint-ignore no-control-regex
const STYLE = /\x1b\[([\d;]*)m/;

/**
 * Parses the text of a terminal with its SGR sequences, as `tmux capture-pane -e` prints it. A style lasts until another
 * sequence ends it, also in the next line. Spaces at the ends of lines, and empty lines at the end, are left out.
 */
export function styledLines(captured: string): StyledLine[] {
  let colour: Colour | null = null;
  let bold = false;
  const lines = captured.split("\n").map((line): StyledLine => {
    const parts = line.trimEnd().split(STYLE);
    return parts.flatMap((part, index) => {
      if (index % 2 === 0) return part === "" ? [] : [{ text: part, colour, bold }];
      for (const code of part.split(";").map(Number)) {
        if (code === 0) [colour, bold] = [null, false];
        else if (code === 1) bold = true;
        else if (code === 22) bold = false;
        else if (code === 39) colour = null;
        else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) colour = COLOURS[code] ?? null;
      }
      return [];
    });
  }).map(withoutEnd);
  return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1);
}

/** Breaks lines that are longer than `columns`, at a space if there is one. */
export function wrapped(lines: readonly StyledLine[], columns: number): StyledLine[] {
  return lines.flatMap((line) => {
    const rows: StyledLine[] = [];
    let rest = line;
    for (;;) {
      const text = textOf(rest);
      if (text.length <= columns) return [...rows, rest];
      const space = text.lastIndexOf(" ", columns);
      const end = space > 0 ? space : columns;
      rows.push(withoutEnd(cut(rest, 0, end)));
      rest = cut(rest, space > 0 ? end + 1 : end, text.length);
    }
  });
}

/** The text of a line without its styles. */
export function textOf(line: StyledLine): string {
  return line.map(({ text }) => text).join("");
}

/** The characters of a line from `from` to `to`, with their styles. */
function cut(line: StyledLine, from: number, to: number): StyledLine {
  let at = 0;
  return line.flatMap((run) => {
    const text = run.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += run.text.length;
    return text === "" ? [] : [{ ...run, text }];
  });
}

function withoutEnd(line: StyledLine): StyledLine {
  return cut(line, 0, textOf(line).trimEnd().length);
}

/** Facts of a picture that its lines do not have. */
export interface Picture {
  /** Title of the window, and of the picture for screen readers. */
  readonly title: string;
  /** Width in characters. */
  readonly columns: number;
}

/** Draws a terminal window with these lines. */
export function terminalSvg(lines: readonly StyledLine[], { title, columns }: Picture): string {
  const width = Math.ceil(columns * CELL + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const rows = lines.map((line, index) => rowOf(line, BAR + (index + 1) * LINE - 6)).filter((row) =>
    row !== ""
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>
.window { fill: #0d1117; stroke: #30363d }
text { fill: #e6edf3; font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.bold { font-weight: bold }
.red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #56d4dd } .grey { fill: #9198a1 }
@media (prefers-color-scheme: light) {
.window { fill: #ffffff; stroke: #d1d9e0 }
text { fill: #1f2328 }
.red { fill: #cf222e } .green { fill: #116329 } .yellow { fill: #7d4e00 } .cyan { fill: #1b6b73 } .grey { fill: #59636e }
}
</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/><circle cx="60" cy="18" r="6" fill="#28c840"/>
${rows.join("\n")}
</svg>
`;
}

/** Draws a line as one text. Each run has a place and a length, so that columns align in any monospaced font. */
function rowOf(line: StyledLine, y: number): string {
  let column = 0;
  const runs = line.map(({ text, colour, bold }) => {
    const at = MARGIN + column * CELL;
    column += text.length;
    const classes = [...(colour === null ? [] : [colour]), ...(bold ? ["bold"] : [])].join(" ");
    return `<tspan x="${pixels(at)}" textLength="${
      pixels(text.length * CELL)
    }" lengthAdjust="spacingAndGlyphs"${classes === "" ? "" : ` class="${classes}"`}>${
      escaped(text)
    }</tspan>`;
  });
  return runs.length === 0 ? "" : `<text y="${y}" xml:space="preserve">${runs.join("")}</text>`;
}

function pixels(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}

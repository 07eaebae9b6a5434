/**
 * Texts of models, tools and people as Markdown without side effects: no markup of HTML, no images, no links
 * with another text than their target, no mentions, no references that close an issue, and nothing that ends the quote or
 * the code block around it.
 */
import { visibleText } from "../terminal.ts";

/** Parts a name or reference without being seen. Not as an entity, which an address would show as it is written. */
const BREAK = "\u200b";

/** A text in one line for use inside HTML. */
export function htmlText(text: string): string {
  return oneLine(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}

/** A text in one line for use inside HTML but outside of code: no mention, and no reference. */
export function inertLineOf(text: string): string {
  return inert(oneLine(text));
}

/** A text in one line in which no character means anything. */
export function literalText(text: string): string {
  return inert(oneLine(text).replace(/[\\`*_{}[\]|~>]|^#/g, "\\$&"));
}

/** A text in one line as code. A bar would end the cell of a table in code too: such a text is no code. */
export function codeSpan(text: string): string {
  const line = oneLine(text);
  if (line.includes("|")) return literalText(line);
  const ticks = "`".repeat(longestRun(line) + 1);
  const space = /^[` ]|[` ]$/.test(line) ? " " : "";
  return line === "" ? "" : `${ticks}${space}${line}${space}${ticks}`;
}

export function codeBlock(text: string, language = ""): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}${language}\n${visibleText(withLineEnds(text)).replace(/\n+$/, "")}\n${ticks}`;
}

/** A text that is Markdown itself, as a quote. */
export function quotedMarkdown(text: string): string {
  return inertMarkdown(text).split("\n").map((line) => line === "" ? ">" : `> ${line}`).join("\n");
}

/** Languages of code blocks that are drawn, or offered as a change, instead of shown. */
const DRAWN = new Set(["mermaid", "geojson", "topojson", "stl", "math", "suggestion"]);

/** Markdown in which only code, lists, tables, headings and emphasis have a meaning. */
export function inertMarkdown(text: string): string {
  const made: string[] = [];
  const lines = withLineEnds(text).trim().split("\n");
  let isSettled = true;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const [, ticks, info = ""] = /^\s*(`{3,}|~{3,})([^`]*)$/.exec(line) ?? [];
    if (ticks === undefined) {
      const shown = inertLine(visibleText(line), isSettled);
      made.push(shown.text);
      isSettled = line.trim() === "" || shown.isSettled;
      continue;
    }
    const found = lines.findIndex((each, index) => index > at && isEndOf(ticks, each));
    const end = found === -1 ? lines.length : found;
    // At the margin, between empty lines: no reader can take it for anything but a block.
    if (made.length > 0 && made.at(-1) !== "") made.push("");
    made.push(codeBlock(outdented(lines.slice(at + 1, end), line.search(/\S/)), languageOf(info.trim())));
    if (end + 1 < lines.length && lines[end + 1] !== "") made.push("");
    isSettled = true;
    at = end;
  }
  return made.join("\n");
}

function isEndOf(ticks: string, line: string): boolean {
  const marks = line.trim();
  return marks.length >= ticks.length && marks === (ticks[0] as string).repeat(marks.length);
}

function languageOf(info: string): string {
  return /^[\w+#.-]{1,20}$/.test(info) && !DRAWN.has(info.toLowerCase()) ? info : "";
}

/** Lines without the indentation of the block that holds them. */
function outdented(lines: readonly string[], indentation: number): string {
  return lines.map((line) => line.slice(Math.min(indentation, Math.max(0, line.search(/\S|$/))))).join("\n");
}

/**
 * A line in which text outside of code is inert. Code in backticks stays, if it is code however the lines around are
 * read: no run of backticks of the paragraph is open (`isSettled`), and no bar may part the line into cells.
 */
function inertLine(line: string, isSettled: boolean): { readonly text: string; readonly isSettled: boolean } {
  let text = "";
  let plain = "";
  let isOpen = !isSettled;
  const mark = /\\[!-/:-@[-`{-~]|`+/y;
  const keepsCode = isSettled && !line.includes("|");
  for (let at = 0; at < line.length;) {
    mark.lastIndex = at;
    const [found = line[at] as string] = mark.exec(line) ?? [];
    const end = found.startsWith("`") ? endOfCode(line, at, found) : null;
    if (end === null) {
      isOpen ||= found.startsWith("`");
      plain += found;
      at += found.length;
    } else {
      const code = line.slice(at, end);
      if (keepsCode) {
        text += `${inert(plain)}${code}`;
        plain = "";
      } else plain += code;
      at = end;
    }
  }
  return { text: text + inert(plain), isSettled: !isOpen };
}

/** The end of the code that a run of backticks at `at` begins; `null` if no equal run ends it in this line. */
function endOfCode(line: string, at: number, run: string): number | null {
  for (let from = at + run.length;;) {
    const start = line.indexOf(run, from);
    if (start === -1) return null;
    const end = start + run.length;
    if (line[start - 1] !== "`" && line[end] !== "`") return end;
    from = start + (/^`+/.exec(line.slice(start))?.[0].length ?? 1);
  }
}

const MEANINGFUL = new RegExp(
  [
    // An escaped character is itself.
    /\\[!-/:-@[-`{-~]/,
    // Images, links and their definitions.
    /!+\[/,
    /\]\(/,
    /\]:/,
    // Entities, HTML, mentions.
    /&(?=#?\w{1,40};)/,
    /[<@]/,
    // References.
    /#(?=\d)/,
    /\bGH-(?=\d)/,
    /\b(?:issues|pull|merge_requests)\/(?=\d)/,
  ].map(({ source }) => source).join("|"),
  "gi",
);

/** Text outside of code in which only emphasis, lists, tables and headings have a meaning. */
function inert(text: string): string {
  return text.replace(MEANINGFUL, (found) => {
    const letter = found.startsWith("\\") ? found.slice(1) : found;
    switch (letter) {
      case "&":
        return "&amp;";
      case "<":
        return "&lt;";
      case "@":
        return `@${BREAK}`;
      case "](":
        return `]${BREAK}(`;
      case "]:":
        return "\\]:";
      case "#":
        return `${found}${BREAK}`;
    }
    if (letter.endsWith("[") && letter !== found.slice(1)) return "[";
    return found.startsWith("\\") ? found : `${found}${BREAK}`;
  });
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

function oneLine(text: string): string {
  return visibleText(text.replace(/\s+/g, " ").trim());
}

/** Lines that end as Markdown's do. */
function withLineEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

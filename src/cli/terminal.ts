/** Text made safe for a terminal. */
import { type ByteStream, writeBlocking } from "./start/streams.ts";

/**
 * Control characters, and characters that Unicode hides: bidi marks, zero-width marks, fillers, tag letters, line
 * and paragraph separators, annotation marks; also Braille's blank. Not the joiners that emoji and scripts need, nor
 * the variation selectors that choose a glyph. Flags of regions are matched as a whole: they are spelled in tag letters.
 */
const unsafe = () =>
  /\p{RGI_Emoji_Tag_Sequence}|[[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]--[\n\t\u200c\u200d\p{Variation_Selector}]]/gv;

/**
 * Text in which control characters, escapes, bidi overrides and invisible letters are visible. One pass over the
 * characters, so its time is linear. Newline and tab stay.
 */
export function visibleText(text: string): string {
  return isPlain(text) ? text : text.replace(unsafe(), visible);
}

/** JSON with the same characters escaped as JSON escapes them: it parses to the same value. */
export function visibleJson(text: string): string {
  if (isPlain(text)) return text;
  return text.replace(unsafe(), (found) => {
    if (isFlag(found)) return found;
    return found.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  });
}

/** True for printable ASCII, newlines and tabs: most text is that, and needs no expression with classes of Unicode. */
function isPlain(text: string): boolean {
  return /^[\n\t -~]*$/.test(text);
}

/** True for a flag; all else that is matched is one character. */
function isFlag(found: string): boolean {
  return found.length > 2;
}

function visible(letter: string): string {
  if (isFlag(letter)) return letter;
  const code = letter.codePointAt(0) as number;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `\\u{${code.toString(16)}}`;
}

/** Text with a style. Only the printer turns styles into escapes, so that no other escape reaches a terminal. */
export interface Styled {
  /** Parameter of the escape sequence SGR. */
  readonly code: number;
  readonly text: string;
}

/** Joins lines, each with its end. */
export function joinedLines(lines: readonly (readonly (string | Styled)[])[]): (string | Styled)[] {
  return lines.flatMap((line) => [...line, "\n"]);
}

/** Text to print, or pieces of it with styles. */
export type Printable = string | Styled | readonly (string | Styled)[];

export function dim(text: string): Styled {
  return { code: 2, text };
}

export function bold(text: string): Styled {
  return { code: 1, text };
}

export function green(text: string): Styled {
  return { code: 32, text };
}

export function cyan(text: string): Styled {
  return { code: 36, text };
}

export function red(text: string): Styled {
  return { code: 31, text };
}

/** Size of the terminal in characters; `null` if the process has none. A terminal that does not know its size says 0. */
export function terminalSize(): { readonly columns: number; readonly rows: number } | null {
  try {
    return Deno.consoleSize();
  } catch {
    return null;
  }
}

/** Columns of the terminal; 80 if the process has none. */
export function terminalColumns(): number {
  return terminalSize()?.columns || 80;
}

/** True if stderr is a file whose last byte ends a line; false for a pipe, in which nothing tells. */
function endsWithLine(): boolean {
  try {
    const { isFile, size } = Deno.statSync("/dev/fd/2");
    if (!isFile) return false;
    if (size === 0) return true;
    using file = Deno.openSync("/dev/fd/2", { read: true });
    file.seekSync(-1, Deno.SeekMode.End);
    const last = new Uint8Array(1);
    return file.readSync(last) === 1 && last[0] === 0x0a;
  } catch {
    return false;
  }
}

export interface TextStream extends ByteStream {
  isTerminal(): boolean;
}

/**
 * Prints to one stream. All text of the program passes here: on a terminal, invisible characters are made visible; a
 * pipe or file gets the text unchanged.
 */
export class Printer {
  readonly isTerminal: boolean;
  readonly #stream: TextStream;
  readonly #colour: boolean;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Columns of the line that {@linkcode status} shows. */
  #statusWidth = 0;

  constructor(stream: TextStream, options: { readonly colour: boolean } = { colour: false }) {
    this.#stream = stream;
    this.isTerminal = stream.isTerminal();
    this.#colour = options.colour && this.isTerminal;
  }

  text(printable: Printable): void {
    this.#write(this.rendered(printable));
  }

  renderedText(text: string): void {
    this.#write(text);
  }

  /** Text for people as it reaches the stream. */
  rendered(printable: Printable): string {
    const pieces = Array.isArray(printable)
      ? printable as readonly (string | Styled)[]
      : [printable as string | Styled];
    return pieces.map((piece) => this.#rendered(piece)).join("");
  }

  /** Replaces the current line of a terminal; the cursor stays on it. A text that is too long is cut before `end`. */
  status(text: string, end: string): void {
    const columns = terminalColumns();
    const most = Math.max(0, columns - 1 - end.length);
    let line = "";
    let width = 0;
    for (const letter of visibleText(text.replaceAll(/[\n\t]/g, " "))) {
      // Letters outside of ASCII may take two columns: too short a line breaks nothing.
      width += letter <= "~" ? 1 : 2;
      if (width > most) break;
      line += letter;
    }
    line = `${line}${end}`.slice(0, columns - 1);
    this.#write(`${this.#statusStart(columns)}${line}\x1b[K`);
    this.#statusWidth = Math.min(columns - 1, Math.min(width, most) + end.length);
  }

  clearStatus(): void {
    this.#write(`${this.#statusStart(terminalColumns())}\x1b[K`);
    this.#statusWidth = 0;
  }

  /** Moves to the start of the status line. A terminal that became narrower has wrapped the line: its rows are emptied. */
  #statusStart(columns: number): string {
    const above = Math.ceil(this.#statusWidth / columns) - 1;
    return above > 0 ? `\r\x1b[${above}A\x1b[J` : "\r";
  }

  /** Begins a line, if another program left the stream within one. */
  beginLine(): void {
    // As many spaces as there are columns wrap within a line, and fill the line at its beginning. Nothing else tells.
    if (this.isTerminal) this.#write(`${" ".repeat(terminalColumns())}\r`);
    else if (!endsWithLine()) this.#write("\n");
  }

  /** JSON, or lines of it. */
  json(text: string): void {
    this.#write(this.isTerminal ? visibleJson(text) : text);
  }

  /** Bytes of a file that holds JSON, in any number of parts. */
  bytes(bytes: Uint8Array): void {
    if (this.isTerminal) this.#write(visibleJson(this.#decoder.decode(bytes, { stream: true })));
    else writeBlocking(this.#stream, bytes);
  }

  #rendered(piece: string | Styled): string {
    if (typeof piece === "string") return this.isTerminal ? visibleText(piece) : piece;
    const text = this.#rendered(piece.text);
    return this.#colour && text !== "" ? `\x1b[${piece.code}m${text}\x1b[0m` : text;
  }

  #write(text: string): void {
    writeBlocking(this.#stream, this.#encoder.encode(text));
  }
}

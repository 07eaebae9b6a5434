/**
 * Text made safe for a terminal.
 *
 * @module
 */

/** Joiners that emoji and scripts need; invisible, but harmless. */
const ZWNJ = 0x200c;
const ZWJ = 0x200d;

/**
 * Text in which control characters, escapes, bidi overrides and invisible marks are visible. One pass over the
 * characters, so its time is linear. Newline and tab stay.
 */
export function visibleText(text: string): string {
  return replaceUnsafe(text, visible);
}

/** JSON with the same characters escaped as JSON escapes them: it parses to the same value. */
export function visibleJson(text: string): string {
  return replaceUnsafe(text, (unit) => `\\u${unit.toString(16).padStart(4, "0")}`);
}

function replaceUnsafe(text: string, replacement: (unit: number) => string): string {
  let plainFrom = 0;
  let result = "";
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (isHarmless(unit)) continue;
    result += text.slice(plainFrom, index) + replacement(unit);
    plainFrom = index + 1;
  }
  return plainFrom === 0 ? text : result + text.slice(plainFrom);
}

function isHarmless(unit: number): boolean {
  if (unit < 0x20) return unit === 0x0a || unit === 0x09;
  if (unit < 0x7f) return true;
  if (unit <= 0x9f || unit === 0xad) return false;
  if (unit < 0x061c) return true;
  return !isInvisible(unit);
}

/** Bidi controls, zero-width marks, line and paragraph separators, annotation marks. */
function isInvisible(unit: number): boolean {
  return unit === 0x061c || unit === 0x180e || unit === 0xfeff ||
    (unit >= 0x200b && unit <= 0x200f && unit !== ZWJ && unit !== ZWNJ) ||
    (unit >= 0x2028 && unit <= 0x202e) ||
    (unit >= 0x2060 && unit <= 0x206f) ||
    (unit >= 0xfff9 && unit <= 0xfffb);
}

function visible(unit: number): string {
  if (unit < 0x20) return String.fromCharCode(0x2400 + unit);
  if (unit === 0x7f) return "\u2421";
  return `\\u{${unit.toString(16)}}`;
}

/** Text in a style of ours. Only the printer turns it into escapes, so that no other escape reaches a terminal. */
export interface Styled {
  /** Parameter of the escape sequence SGR. */
  readonly code: number;
  readonly text: string;
}

/** What can be printed: text, or pieces of it with styles. */
export type Printable = string | Styled | readonly (string | Styled)[];

/** Faint text. */
export function dim(text: string): Styled {
  return { code: 2, text };
}

/** Red text. */
export function red(text: string): Styled {
  return { code: 31, text };
}

/** A stream that text is written to. */
export interface TextStream {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/**
 * Prints to one stream. All text of the program reaches a terminal through here: there it is made visible, while a pipe
 * or file gets it unaltered.
 */
export class Printer {
  readonly isTerminal: boolean;
  readonly #stream: TextStream;
  readonly #colour: boolean;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(stream: TextStream, options: { readonly colour: boolean } = { colour: false }) {
    this.#stream = stream;
    this.isTerminal = stream.isTerminal();
    this.#colour = options.colour && this.isTerminal;
  }

  /** Text for people. */
  text(printable: Printable): void {
    const pieces = Array.isArray(printable)
      ? printable as readonly (string | Styled)[]
      : [printable as string | Styled];
    this.#write(pieces.map((piece) => this.#rendered(piece)).join(""));
  }

  /** JSON, or lines of it. */
  json(text: string): void {
    this.#write(this.isTerminal ? visibleJson(text) : text);
  }

  /** Bytes of a file that holds JSON, in as many parts as there are. */
  bytes(bytes: Uint8Array): void {
    if (this.isTerminal) this.#write(visibleJson(this.#decoder.decode(bytes, { stream: true })));
    else this.#writeAll(bytes);
  }

  #rendered(piece: string | Styled): string {
    if (typeof piece === "string") return this.isTerminal ? visibleText(piece) : piece;
    const text = this.#rendered(piece.text);
    return this.#colour && text !== "" ? `\x1b[${piece.code}m${text}\x1b[0m` : text;
  }

  #write(text: string): void {
    this.#writeAll(this.#encoder.encode(text));
  }

  #writeAll(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length;) {
      written += this.#stream.writeSync(bytes.subarray(written));
    }
  }
}

/**
 * Finds a literal text in lines; time grows with the length of the text that is searched.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { headOf, tailOf } from "../../domain/text.ts";

/** How much of a line is shown before a match, in UTF-16 units. */
const BEFORE_CHARS = 100;
/** How much of a line is shown from the match on. */
const AFTER_CHARS = 300;
const NON_ASCII = /[^\u0020-\u007e\t]/;

/** A literal text, ready to be found. */
export interface TextMatcher {
  /** False when undecoded bytes cannot hold the text: saves decoding them. */
  readonly mayMatch: (bytes: Uint8Array) => boolean;
  /** Where the text starts in a line, in UTF-16 units, or -1. */
  readonly find: (line: string) => number;
}

/** A line that holds the text. */
export interface LineMatch {
  /** Counted from 1. */
  readonly line: number;
  /** The line, or the part of a long one around the first match. */
  readonly excerpt: string;
}

/** Makes a matcher for `text`, which must hold no line break. */
export function textMatcher(text: string, options: { readonly ignoreCase: boolean }): TextMatcher {
  if (options.ignoreCase) {
    const folded = text.toLowerCase();
    return { mayMatch: () => true, find: (line) => line.toLowerCase().indexOf(folded) };
  }
  const bytes = Buffer.from(text);
  return {
    // Undecodable bytes become U+FFFD: a text that holds one may match bytes that differ from its own.
    mayMatch: NON_ASCII.test(text)
      ? () => true
      : (content) => Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(bytes),
    find: (line) => line.indexOf(text),
  };
}

/** The first `limit` lines of `text` that match. */
export function lineMatches(text: string, matcher: TextMatcher, limit: number): LineMatch[] {
  const matches: LineMatch[] = [];
  let line = 0;
  for (let start = 0; start <= text.length && matches.length < limit;) {
    line++;
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const content = text.slice(start, end).replace(/\r$/, "");
    const at = matcher.find(content);
    if (at >= 0) matches.push({ line, excerpt: excerptOf(content, at) });
    start = end + 1;
  }
  return matches;
}

function excerptOf(line: string, at: number): string {
  if (line.length <= BEFORE_CHARS + AFTER_CHARS) return line;
  // Folding case can shift positions; a position beyond the line shows its end.
  const middle = Math.min(at, line.length);
  const before = tailOf(line.slice(0, middle), BEFORE_CHARS);
  const after = headOf(line.slice(middle), AFTER_CHARS);
  const more = before.length < middle ? "…" : "";
  return `${more}${before}${after}${middle + after.length < line.length ? "…" : ""}`;
}

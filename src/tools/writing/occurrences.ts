/**
 * Where a text stands in another, and what is like it where it does not.
 *
 * @module
 */
import { cutLine } from "../output.ts";

/** Beyond so many places nobody counts on. */
const MAX_COUNTED = 100;
/** How many similar lines are named. */
const MAX_NEAR = 3;
/** How much of a similar line is shown, in UTF-16 units. */
const MAX_NEAR_CHARS = 200;
/** A line is like another when so much of the longer one is common to both, from their ends. */
const LIKE_SHARE = 0.5;

/** One place of a text. */
export interface Occurrence {
  /** In UTF-16 units. */
  readonly index: number;
  /** Of its first letter, counted from 1. */
  readonly line: number;
}

/** How often a text stands in another, and the first places. */
export interface Occurrences {
  /** Overlapping ones included; stops at 100. */
  readonly count: number;
  readonly places: readonly Occurrence[];
}

/** Finds `wanted`, which is not empty, and names its first `limit` places. */
export function occurrencesOf(text: string, wanted: string, limit: number): Occurrences {
  const places: Occurrence[] = [];
  let count = 0;
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(wanted); at >= 0 && count < MAX_COUNTED; at = text.indexOf(wanted, at + 1)) {
    if (count++ >= limit) continue;
    for (let newline = text.indexOf("\n", counted); newline >= 0 && newline < at;) {
      line++;
      counted = newline + 1;
      newline = text.indexOf("\n", counted);
    }
    places.push({ index: at, line });
  }
  return { count, places };
}

/** A line that resembles what was looked for. */
export interface NearLine {
  /** Counted from 1. */
  readonly line: number;
  readonly excerpt: string;
}

/** The lines of `text` that are most like the first line of `wanted` that is not blank, best first. */
export function nearestLines(text: string, wanted: string): NearLine[] {
  const first = wanted.split("\n").map((line) => line.trim()).find((line) => line !== "");
  if (first === undefined) return [];
  const best: { readonly line: number; readonly text: string; readonly share: number }[] = [];
  text.split("\n").forEach((content, index) => {
    const share = likeness(content.trim(), first);
    if (share < LIKE_SHARE) return;
    best.push({ line: index + 1, text: content, share });
    best.sort((a, b) => b.share - a.share || a.line - b.line);
    best.length = Math.min(best.length, MAX_NEAR);
  });
  return best.map(({ line, text: content }) => ({ line, excerpt: cutLine(content, MAX_NEAR_CHARS) }));
}

/** The share of the longer line that both have in common from the left and from the right; blanks do not count. */
function likeness(a: string, b: string): number {
  const [left, right] = [a.replace(/\s+/g, ""), b.replace(/\s+/g, "")];
  const longest = Math.max(left.length, right.length);
  const shortest = Math.min(left.length, right.length);
  // Cheap, and it decides for most lines.
  if (shortest < longest * LIKE_SHARE) return 0;
  let head = 0;
  while (head < shortest && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < shortest - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  return (head + tail) / longest;
}

/**
 * Cuts titles to a width so that different titles stay different.
 *
 * @module
 */
import type { TextWidth } from "../text_width.ts";

/** Characters that stay before the part that tells titles apart. */
const KEPT_HEAD = 8;

/**
 * Cuts each title to at most `width` columns. Titles that begin alike and would be cut to the same text keep their first
 * characters and the part in which they differ.
 */
export function distinctTitles(titles: readonly string[], width: number, widths: TextWidth): string[] {
  const groups = Map.groupBy(titles, (title) => widths.cut(title, width));
  return titles.map((title) => {
    const cut = widths.cut(title, width);
    const alike = new Set(groups.get(cut));
    if (alike.size < 2 || width < 3 * KEPT_HEAD) return cut;
    const head = title.slice(0, KEPT_HEAD).trimEnd();
    const rest = title.slice(wordBefore(title, sharedLength([...alike])));
    return widths.cut(`${head}… ${rest}`, width);
  });
}

/** Number of UTF-16 units with which all texts begin. */
function sharedLength([first = "", ...others]: readonly string[]): number {
  let shared = first.length;
  for (const other of others) {
    let length = 0;
    while (length < shared && first.charCodeAt(length) === other.charCodeAt(length)) length++;
    shared = length;
  }
  return shared;
}

/** The start of the word at `place`. */
function wordBefore(text: string, place: number): number {
  return text.lastIndexOf(" ", place - 1) + 1;
}

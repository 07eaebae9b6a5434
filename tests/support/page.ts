/**
 * Pages of the docs whose blocks are run unchanged.
 *
 * A block whose first line is a comment with a path is that file; other blocks are what their language says.
 *
 * @module
 */

/** A block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Its first line in the page, from 1. */
  readonly line: number;
  /** The file that it is; `null` for all others. */
  readonly path: string | null;
}

/** Returns a section of a page: from its heading of the second level to the next one. */
export function sectionOf(page: string, heading: string): string {
  const [, rest] = page.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`The page has no section "${heading}"`);
  return rest.split("\n## ")[0] as string;
}

/** The blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map((match) => {
    const [, language = "", text = ""] = match;
    const path = /^(?:#|\/\/) ((?:[\w.-]+\/)*(?:[\w-]*\.[\w.]+|Makefile))\n/.exec(text)?.[1] ?? null;
    return { language, text, line: page.slice(0, match.index).split("\n").length + 1, path };
  });
}

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

/** The blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map((match) => {
    const [, language = "", text = ""] = match;
    const path = /^(?:#|\/\/) ((?:[\w.-]+\/)*(?:[\w-]*\.[\w.]+|Makefile))\n/.exec(text)?.[1] ?? null;
    return { language, text, line: page.slice(0, match.index).split("\n").length + 1, path };
  });
}

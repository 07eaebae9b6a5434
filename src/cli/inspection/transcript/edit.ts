/**
 * Edits as lines that are removed and added.
 *
 * @module
 */
import { diffLines } from "diff";
import type { Edit } from "./blocks.ts";

/** A line of a diff: removed, added, or unchanged. */
export interface ChangedLine {
  readonly sign: "-" | "+" | " ";
  readonly text: string;
}

/** Longest edit script that is looked for; texts that differ more are removed and added as a whole. */
const MAX_EDITS = 2000;

/** The lines of both texts of an edit. Lines that differ are removed and added. */
export function changedLines({ before, after }: Edit): ChangedLine[] {
  const changes = diffLines(withLineEnd(before), withLineEnd(after), { maxEditLength: MAX_EDITS });
  const isMarked = changes?.some(({ added, removed }) => added || removed) ?? false;
  // Only the end of the last line differs, or too much does.
  if (changes === undefined || !isMarked) return [...linesOf(before, "-"), ...linesOf(after, "+")];
  return changes.flatMap(({ value, added, removed }) => linesOf(value, added ? "+" : removed ? "-" : " "));
}

/** Ends the last line: an edit may replace a part of a line, and its end is no difference. */
function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function linesOf(text: string, sign: ChangedLine["sign"]): ChangedLine[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n").map((line) => ({ sign, text: line }));
}

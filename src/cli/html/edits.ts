/**
 * Edits and changes of texts as a page shows them.
 *
 * @module
 */
import { parsedObject } from "../../domain/json.ts";
import { hunksOf } from "../changed_lines.ts";
import { editIn } from "../edits.ts";

/** The change from one text to another, as in {@linkcode Call.diff}. */
export function diffText(before: string, after: string, isPart = false): string {
  return hunksOf(before, after, { isPart }).flatMap((hunk, index) => {
    const { oldStart, oldLines, newStart, newLines } = hunk;
    const isWhole = index === 0 && oldStart <= 1 && newStart <= 1;
    const place = `@ lines ${oldStart}-${oldStart + oldLines - 1}, now ${newStart}-${
      newStart + newLines - 1
    }`;
    const lines = hunk.lines.filter(({ sign }) => sign !== "\\");
    return [...(isWhole ? [] : [place]), ...lines.map(({ sign, text }) => `${sign}${text}`)];
  }).join("\n");
}

/** An edit of a file. */
export interface ShownEdit {
  readonly path: string | null;
  readonly diff: string;
}

/** The edit that a call makes; `null` if its arguments are not those of an edit. */
export function editOf(tool: string, text: string): ShownEdit | null {
  if (text.startsWith("*** Begin Patch\n")) return { path: null, diff: text.replace(/^\*\*\* ?/gm, "@ ") };
  const args = parsedObject(text);
  const edit = args === null ? null : editIn(tool, args);
  return edit === null ? null : { path: edit.path, diff: diffText(edit.before, edit.after, true) };
}

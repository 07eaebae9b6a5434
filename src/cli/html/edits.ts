/**
 * Changes of texts as lines for a page, and the edits in calls of tools.
 *
 * @module
 */
import { structuredPatch } from "diff";
import { parsedObject, stringMember } from "../../domain/json.ts";

/** Lines around a change. */
const CONTEXT = 3;
/** A change of more lines is shown as all old lines, then all new ones. */
const MAX_EDITS = 2_000;

/** The change from one text to another, as in {@linkcode Call.diff}. */
export function changedLines(before: string, after: string): string {
  const patch = structuredPatch("", "", before, after, "", "", {
    context: CONTEXT,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) return [...marked("-", before), ...marked("+", after)].join("\n");
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }, index) => {
    const isWhole = index === 0 && oldStart <= 1 && newStart <= 1;
    const place = `@ lines ${oldStart}-${oldStart + oldLines - 1}, now ${newStart}-${
      newStart + newLines - 1
    }`;
    return [...(isWhole ? [] : [place]), ...lines.filter((line) => !line.startsWith("\\"))];
  }).join("\n");
}

function marked(sign: string, text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").map((line) => `${sign}${line}`);
}

/** An edit of a file. */
export interface Edit {
  readonly path: string | null;
  readonly diff: string;
}

/** Names of the old and the new text in calls of editing tools: ours, and those of common agents. */
const PAIRS = [["old_text", "new_text"], ["old_string", "new_string"], ["old_str", "new_str"]] as const;

/** The edit that a call makes; `null` if its arguments are not those of an edit. */
export function editOf(tool: string, text: string): Edit | null {
  if (text.startsWith("*** Begin Patch\n")) return { path: null, diff: text.replace(/^\*\*\* ?/gm, "@ ") };
  const args = parsedObject(text);
  if (args === null) return null;
  const path = stringMember(args, "path") ?? stringMember(args, "file_path") ?? null;
  for (const [before, after] of PAIRS) {
    const [was, is] = [stringMember(args, before), stringMember(args, after)];
    if (was !== undefined && is !== undefined) return { path, diff: changedLines(was, is) };
  }
  const content = stringMember(args, "content");
  if (path === null || content === undefined || !/write|create/i.test(tool)) return null;
  return { path, diff: marked("+", content).join("\n") };
}

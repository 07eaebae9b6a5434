/** Edits of files in calls of tools: ours, and those of common agents. */
import { type JsonObject, stringMember } from "../domain/json.ts";

export interface FileEdit {
  /** `null` if the call names none. */
  readonly path: string | null;
  /** The text that is replaced; empty for a whole new file. */
  readonly before: string;
  readonly after: string;
}

/** Names of the old and the new text. */
const PAIRS = [["old_text", "new_text"], ["old_string", "new_string"], ["old_str", "new_str"]] as const;

/** The edit that a call with these arguments makes; `null` if they are not those of an edit. */
export function editIn(tool: string, args: JsonObject): FileEdit | null {
  const path = stringMember(args, "path") ?? stringMember(args, "file_path") ?? null;
  for (const [old, now] of PAIRS) {
    const [before, after] = [stringMember(args, old), stringMember(args, now)];
    if (before !== undefined && after !== undefined) return { path, before, after };
  }
  const content = stringMember(args, "content");
  if (path === null || content === undefined || !/write|create/i.test(tool)) return null;
  return { path, before: "", after: content };
}

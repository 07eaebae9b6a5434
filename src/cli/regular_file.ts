import { specialKind } from "../tools/sandbox_path.ts";

/**
 * Names what a path leads to in place of a regular file, such as `a FIFO`: opening that may wait without end. Links are
 * followed. `null` for a regular file, and where nothing is.
 */
export function otherKind(path: string): string | null {
  let facts: Deno.FileInfo;
  try {
    facts = Deno.statSync(path);
  } catch {
    return null;
  }
  if (facts.isFile) return null;
  return facts.isDirectory ? "a directory" : specialKind(facts);
}

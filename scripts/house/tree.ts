import { join } from "node:path";

/** One file of the checkout. */
export interface SourceFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/**
 * The files of a checkout, sorted by path; without `.git`, links, and the paths that `.gitignore` lists. Bytes that are
 * not UTF-8 come as replacement characters.
 */
export function readTree(root: string): SourceFile[] {
  const ignored = Deno.readTextFileSync(join(root, ".gitignore")).split("\n");
  const skipped = new Set([".git", ...ignored.map((line) => line.replace(/^\/|\/$/g, ""))]);
  const files: SourceFile[] = [];
  const walk = (folder: string) => {
    for (const { name, isDirectory, isFile } of Deno.readDirSync(join(root, folder))) {
      const path = `${folder}${name}`;
      if (skipped.has(path)) continue;
      if (isDirectory) walk(`${path}/`);
      if (isFile) files.push({ path, text: Deno.readTextFileSync(join(root, path)) });
    }
  };
  walk("");
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

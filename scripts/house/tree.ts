import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { outputOf, run } from "../process.ts";
import type { SourceFile } from "./finding.ts";

/** Not ours, or made by a build. Only a tree without git needs this list. */
const SKIPPED = new Set([".git", "node_modules", "dist", "coverage", ".cache"]);

/**
 * The files of a checkout: what git tracks or would add; in a tree without git, all files but build results.
 * Bytes that are not UTF-8 come as replacement characters.
 *
 * @throws {RepriseError} `unexpected` when git refuses.
 */
export async function readTree(root: string): Promise<SourceFile[]> {
  const paths = hasGit(root) ? await gitFiles(root) : [...walk(root, "")];
  return paths.sort().flatMap((path) => {
    const text = readIfFile(join(root, path));
    return text === null ? [] : [{ path, text }];
  });
}

function hasGit(root: string): boolean {
  try {
    Deno.lstatSync(join(root, ".git"));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function gitFiles(root: string): Promise<string[]> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  // In a container the checkout often belongs to another user, which git takes for an attack; listing is harmless.
  const listed = await run("git", ["-c", "safe.directory=*", "-C", root, ...args]);
  if (listed.code !== 0) {
    throw new RepriseError("unexpected", `Cannot list files of "${root}": ${outputOf(listed)}`);
  }
  return listed.stdout.split("\0").filter((path) => path !== "");
}

function* walk(root: string, below: string): Generator<string> {
  for (const entry of Deno.readDirSync(join(root, below))) {
    if (SKIPPED.has(entry.name)) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory) yield* walk(root, path);
    else if (entry.isFile) yield path;
  }
}

/** A file's text; `null` for what git knows and the disk has no longer, and for links. */
function readIfFile(path: string): string | null {
  try {
    return Deno.lstatSync(path).isFile ? Deno.readTextFileSync(path) : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

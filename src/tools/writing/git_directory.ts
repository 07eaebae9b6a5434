/**
 * Directories that git takes for a repository by what they hold. Git obeys the configuration in them, which names
 * commands to run, so no tool writes one.
 *
 * @module
 */
import { join } from "node:path";
import { factsOf } from "../sandbox_path.ts";
import { foldedName } from "./protected_names.ts";
import { segmentsOf } from "../workspace_path.ts";

/** Names, folded, that together make a git directory (`is_git_directory` in git's setup.c). */
const SETS: readonly (readonly string[])[] = [["head", "objects", "refs"], ["head", "commondir"]];
const MARKS: ReadonlySet<string> = new Set(SETS.flat());

/**
 * The directory that would be a git directory once `path` is written, or is one already; `null` when there is none.
 * Each directory from `root` to the one of `path` counts, unless it has a repository of its own in `.git`: git looks
 * there first.
 */
export function gitDirectoryWith(root: string, path: string): string | null {
  let directory = root;
  for (const name of segmentsOf(root, path)) {
    if (isGitDirectory(directory, foldedName(name))) return directory;
    directory = join(directory, name);
  }
  return null;
}

function isGitDirectory(directory: string, added: string): boolean {
  // Reading a large directory costs milliseconds: only where its names can matter.
  if (!MARKS.has(added) && factsOf(join(directory, "HEAD")) === null) return false;
  return hasSet([added, ...namesIn(directory)]) && !hasRepository(directory);
}

function hasSet(found: readonly string[]): boolean {
  const names = new Set(found);
  return SETS.some((set) => set.every((name) => names.has(name)));
}

/** A `.git` file leads to a repository, or makes git fail. Git passes over a `.git` directory that is not whole. */
function hasRepository(directory: string): boolean {
  const path = join(directory, ".git");
  return factsOf(path)?.isFile === true || hasSet(namesIn(path));
}

function namesIn(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => foldedName(name));
  } catch {
    // It is not there yet, or cannot be read, and then not be written either.
    return [];
  }
}

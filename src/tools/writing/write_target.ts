/**
 * Where a tool may write: inside the workspace, through no link at the end, and to no protected name.
 *
 * @module
 */
import { basename, dirname, join, sep } from "node:path";
import { factsOf } from "../sandbox_path.ts";
import { gitDirectoryWith } from "./git_directory.ts";
import { foldedName, protectedName } from "./protected_names.ts";
import { type ToolContext, ToolFailure } from "../tool.ts";
import { isInside, lexicalPath, quotedPath, segmentsOf, shownIn } from "../workspace_path.ts";

/** A place in the workspace that may be written. */
export interface WriteTarget {
  /** Absolute; the directories that exist are canonical. */
  readonly path: string;
  /** Relative to the workspace, with forward slashes. */
  readonly shown: string;
  readonly exists: boolean;
}

/** The names that lead to a target's directory, from the workspace on, and its own. */
export interface WriteWay {
  readonly directories: readonly string[];
  readonly name: string;
}

/**
 * Finds the file that `given` names, or the place where it would be. Links to directories are followed, as long
 * as they stay inside.
 *
 * @throws {ToolFailure} when it leads outside, ends in a link, a directory or something special, or goes
 * through a protected name. Whether something exists outside cannot be told from the message.
 */
export function writeTarget(given: string, context: ToolContext): WriteTarget {
  const { root, protectedPaths } = context;
  const asked = lexicalPath(root, given);
  const spelled = shownIn(root, asked);
  if (asked === root) throw refusal(spelled, "it is the workspace itself");
  if (given.endsWith("/") || given.endsWith(sep)) {
    throw refusal(spelled, "a file name cannot end with a slash");
  }
  refuseProtected(asked, spelled, { root, protectedPaths });
  const path = join(resolveDirectory(root, dirname(asked), spelled), basename(asked));
  const shown = shownIn(root, path);
  refuseProtected(path, shown, { root, protectedPaths });
  const facts = factsOf(path);
  if (facts === null) return { path, shown, exists: false };
  if (facts.isSymlink) throw refusal(shown, "it is a symbolic link; name the file itself");
  if (facts.isDirectory) throw refusal(shown, "it is a directory");
  if (!facts.isFile) throw refusal(shown, "it is not a regular file");
  return { path, shown, exists: true };
}

/** The steps from `root` to a target. */
export function wayTo(root: string, target: WriteTarget): WriteWay {
  return { directories: segmentsOf(root, dirname(target.path)), name: basename(target.path) };
}

/** A write that cannot be done, in the words that all of them share. */
export function refusal(shown: string, why: string): ToolFailure {
  return new ToolFailure(`Cannot write ${quotedPath(shown)}: ${why}`);
}

/** The canonical path of a directory that may not exist yet, in part or whole. */
function resolveDirectory(root: string, directory: string, spelled: string): string {
  const missing: string[] = [];
  let path = directory;
  while (path !== root && factsOf(path) === null) {
    missing.unshift(basename(path));
    path = dirname(path);
  }
  const real = realPath(path);
  // One message for all that happens behind a link: it must not tell what exists outside.
  if (real === null || !isInside(root, real)) {
    throw refusal(spelled, "a symbolic link on the way leads outside the workspace, or nowhere");
  }
  const facts = factsOf(real);
  if (facts === null || !facts.isDirectory) {
    throw refusal(spelled, `${quotedPath(shownIn(root, real))} is not a directory`);
  }
  return join(real, ...missing);
}

function refuseProtected(
  path: string,
  shown: string,
  bounds: { readonly root: string; readonly protectedPaths: readonly string[] },
): void {
  const name = protectedName(shownIn(bounds.root, path));
  if (name !== null) throw refusal(shown, `${quotedPath(name)} is a protected name that no tool writes`);
  const git = gitDirectoryWith(bounds.root, path);
  if (git !== null) {
    const directory = quotedPath(shownIn(bounds.root, git));
    throw refusal(shown, `${directory} would be a git directory, whose configuration names commands to run`);
  }
  const folded = foldedPath(path);
  for (const closed of bounds.protectedPaths) {
    // Both spellings: the path may go through a link, and the place may not exist yet.
    for (const place of [closed, realPath(closed) ?? closed]) {
      const prefix = foldedPath(place);
      if (prefix.every((each, index) => folded[index] === each)) {
        throw refusal(shown, "it belongs to reprise itself");
      }
    }
  }
}

function foldedPath(path: string): string[] {
  return path.split(/[/\\]/).filter((name) => name !== "").map(foldedName);
}

function realPath(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null;
  }
}

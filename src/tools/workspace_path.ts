/**
 * What a path spells, without looking at the disk.
 *
 * @module
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { shownPath } from "./output.ts";
import { ToolFailure } from "./tool.ts";

/** The longest path that is looked at, in UTF-16 units. */
const MAX_PATH_CHARS = 4096;

/**
 * The absolute path that `given` spells, `..` taken away by spelling alone.
 *
 * @throws {ToolFailure} when it cannot be a path, or spells one outside of `root`.
 */
export function lexicalPath(root: string, given: string): string {
  if (given === "") throw new ToolFailure('Cannot open an empty path: give "." for the workspace');
  if (given.length > MAX_PATH_CHARS) {
    throw new ToolFailure(
      `Cannot open a path of ${given.length} characters: at most ${MAX_PATH_CHARS} are taken`,
    );
  }
  if (given.includes("\0")) throw new ToolFailure("Cannot open a path that holds a NUL character");
  if (!given.isWellFormed()) throw new ToolFailure("Cannot open a path that is not valid Unicode");
  const path = resolve(root, given);
  if (!isInside(root, path)) {
    throw new ToolFailure("Cannot open a path outside the workspace: give one relative to the workspace");
  }
  return path;
}

/** Compares whole segments: `/a/project-x` is not inside `/a/project`. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return !isAbsolute(way) && way !== ".." && !way.startsWith(`..${sep}`);
}

/** The path segments that lead from `root` to `path`, which must be inside. */
export function segmentsOf(root: string, path: string): string[] {
  const way = relative(root, path);
  return way === "" ? [] : way.split(sep);
}

/** `path` as texts show it: relative to `root`, with forward slashes; `.` for `root` itself. */
export function shownIn(root: string, path: string): string {
  return segmentsOf(root, path).join("/") || ".";
}

/** A path as messages quote it. */
export function quotedPath(shown: string): string {
  const text = shownPath(shown);
  return text.startsWith('"') ? text : `"${text}"`;
}

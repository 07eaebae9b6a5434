/**
 * Walks the workspace in an order that depends on names alone.
 *
 * @module
 */
import { listDirectory, type Located, locateEntry } from "../sandbox_path.ts";
import { ToolFailure } from "../tool.ts";

/** Directories that are shown but not entered, unless a call starts in them: large, and not the user's work. */
const SKIPPED = new Set([".git", "node_modules"]);
/** The most entries that one walk looks at. */
const MAX_VISITED = 100_000;
/** After so many entries a walk lets other work run, so that an abort is seen. */
const VISITED_PER_SLICE = 256;

/** One thing that a walk met. */
export type Step =
  | { readonly kind: "file" | "directory"; readonly shown: string; readonly located: Located }
  /** A directory that was not entered. */
  | { readonly kind: "skipped"; readonly shown: string }
  /** A link, FIFO, socket or device: never followed, never opened. */
  | { readonly kind: "symlink" | "other"; readonly shown: string }
  /** A file or directory that a deny rule covers: not entered, not opened. */
  | { readonly kind: "hidden"; readonly shown: string }
  /** A directory that could not be read. */
  | { readonly kind: "unreadable"; readonly shown: string }
  /** The walk ended early. */
  | { readonly kind: "stopped"; readonly visited: number };

/** How far a walk goes. */
export interface WalkOptions {
  readonly root: string;
  readonly signal: AbortSignal;
  /** Says which paths are not to be entered or opened; shown paths are asked about. */
  readonly isHidden: (path: string) => boolean;
  /**
   * How many levels of directories to list; 1 is the start alone.
   *
   * @default {Infinity}
   */
  readonly depth?: number;
}

/**
 * Every entry under `start`, each directory before what is in it, names in code unit order.
 *
 * @throws the signal's reason when it aborts.
 */
export async function* walk(start: Located, options: WalkOptions): AsyncGenerator<Step> {
  const count = { visited: 0 };
  yield* walkInto(start, options.depth ?? Infinity, options, count);
}

async function* walkInto(
  directory: Located,
  depth: number,
  options: WalkOptions,
  count: { visited: number },
): AsyncGenerator<Step> {
  const entries = listOrNull(directory, options.root);
  if (entries === null) {
    yield { kind: "unreadable", shown: directory.shown };
    return;
  }
  for (const entry of entries) {
    if (++count.visited > MAX_VISITED) {
      if (count.visited === MAX_VISITED + 1) yield { kind: "stopped", visited: MAX_VISITED };
      return;
    }
    if (count.visited % VISITED_PER_SLICE === 0) await letOthersRun();
    options.signal.throwIfAborted();
    const shown = directory.shown === "." ? entry.name : `${directory.shown}/${entry.name}`;
    if (entry.kind === "symlink" || entry.kind === "other") {
      yield { kind: entry.kind, shown };
      continue;
    }
    if (entry.kind === "directory" && SKIPPED.has(entry.name)) {
      yield { kind: "skipped", shown };
      continue;
    }
    if (options.isHidden(shown)) {
      yield { kind: "hidden", shown };
      continue;
    }
    const located = locateEntry(directory, entry.name);
    if (located === null) continue;
    yield { kind: located.kind, shown, located };
    if (located.kind === "directory" && depth > 1) yield* walkInto(located, depth - 1, options, count);
  }
}

function listOrNull(directory: Located, root: string) {
  try {
    return listDirectory(root, directory);
  } catch (error) {
    if (error instanceof ToolFailure) return null;
    throw error;
  }
}

function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** `list_files`: what is in a directory of the workspace. */
import { listDirectory, locate, type Located, locateEntry } from "../sandbox_path.ts";
import { type Glob, parseGlob } from "../glob.ts";
import { shownPath } from "../output.ts";
import { confirmJudged, defineTool, nullableArgument, type Tool, ToolFailure } from "../tool.ts";

const MAX_LISTED = 5000;

export const listFiles: Tool = defineTool({
  name: "list_files",
  description:
    "List the files and directories under a directory of the workspace, one path a line, relative to the " +
    "workspace, in code unit order. Directories end with a slash; links are shown and not followed; .git and " +
    "node_modules are shown and not entered.",
  arguments: {
    path: nullableArgument(
      "string",
      "The directory, relative to the workspace; null for the workspace itself",
    ),
    pattern: nullableArgument(
      "string",
      "Only list what fits this glob: * and ? within a name, ** for directories, {a,b}; matched against " +
        "the path when it has a slash, otherwise against the name; null for everything",
    ),
    depth: nullableArgument("integer", "How many levels to list: 1 is the directory alone; null for all"),
  },
  group: "read",
  target: ({ path }, { root }) => ({ kind: "path", path: locate(root, path ?? ".").shown }),
  async run({ path, pattern, depth }, context) {
    const { root, signal, isHidden } = context;
    if (depth !== null && depth < 1) throw new ToolFailure(`Cannot list ${depth} levels: give 1 or more`);
    const fits = pattern === null ? () => true : parseGlob(pattern);
    const start = locate(root, path ?? ".");
    confirmJudged(context, start.shown);
    if (start.kind === "file") {
      throw new ToolFailure(`Cannot list ${shownPath(start.shown)}: it is a file (read it with read_file)`);
    }
    const lines: string[] = [];
    let listed = 0;
    for await (const step of walkTree(start, { root, signal, isHidden, depth: depth ?? Infinity })) {
      const line = lineOf(step, fits);
      if (line === null) continue;
      if (listed === MAX_LISTED) {
        lines.push(`[Stopped after ${MAX_LISTED} entries: narrow the path, the pattern or the depth]`);
        break;
      }
      lines.push(line);
      listed++;
    }
    if (listed === 0) {
      lines.push(pattern === null ? "[The directory is empty]" : "[Nothing fits the pattern]");
    }
    return { status: "ok", text: lines.join("\n") };
  },
});

function lineOf(step: Step, fits: Glob): string | null {
  if (step.kind === "stopped") return `[Stopped after looking at ${step.visited} entries: narrow the path]`;
  if (step.kind === "unreadable") return `${shownPath(step.shown)} [cannot be read]`;
  if (!fits(step.shown)) return null;
  switch (step.kind) {
    case "file":
      return shownPath(step.shown);
    case "directory":
      return shownPath(`${step.shown}/`);
    case "skipped":
      return `${shownPath(`${step.shown}/`)} [not entered]`;
    case "symlink":
      return `${shownPath(step.shown)} [link]`;
    case "hidden":
      return `${shownPath(step.shown)} [denied]`;
    case "other":
      return `${shownPath(step.shown)} [special]`;
  }
}

/** Directories that are shown but not entered, unless a call starts in them: large, and not the user's work. */
const SKIPPED = new Set([".git", "node_modules"]);
/** The most entries that one walk looks at. */
const MAX_VISITED = 100_000;
/** Number of entries after which a walk lets other work run, so that an abort is seen. */
const VISITED_PER_SLICE = 256;

type Step =
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

export interface WalkOptions {
  readonly root: string;
  readonly signal: AbortSignal;
  /** Says which paths are not to be entered or opened; shown paths are asked about. */
  readonly isHidden: (path: string) => boolean;
  /** Number of levels of directories to list; 1 is the start alone. */
  readonly depth: number;
}

/**
 * Every entry under `directory`, each directory before what is in it, names in code unit order.
 *
 * @throws the signal's reason when it aborts.
 */
export async function* walkTree(
  directory: Located,
  options: WalkOptions,
  count = { visited: 0 },
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
    if (count.visited % VISITED_PER_SLICE === 0) await new Promise((resolve) => setTimeout(resolve, 0));
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
    if (located.kind === "directory" && options.depth > 1) {
      yield* walkTree(located, { ...options, depth: options.depth - 1 }, count);
    }
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

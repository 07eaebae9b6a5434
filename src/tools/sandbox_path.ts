/**
 * Paths from the model to files in the workspace, and nowhere else. Deno's permissions do not confine: they
 * look at a link's place, not at its target.
 *
 * A path is resolved first and judged after; what is opened is the resolved path, and it is judged again
 * once it is open, because anything may have been swapped in between.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, read } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolFailure } from "./tool.ts";
import { isBinary, shownPath } from "./output.ts";

/**
 * Number of checks of a path after it was opened. Each pass asks two questions that a swapped path can only
 * answer in opposite states; the order of the questions follows the Thue–Morse sequence, so that nothing
 * that swaps at a steady pace can stay in step with it.
 */
const PASSES = 8;

/** A path that was found inside the workspace. */
export interface Located {
  /** Absolute, canonical, without symbolic links when it was resolved. */
  readonly path: string;
  /** Relative to the workspace, with forward slashes; `.` is the workspace itself. */
  readonly shown: string;
  readonly kind: "file" | "directory";
  readonly device: number;
  readonly inode: number | null;
}

/** A regular file of the workspace, open for reading. */
export interface SandboxFile {
  /** Length in bytes when it was opened; a guide only. */
  readonly size: number;
  /** Reads some bytes into `buffer`; 0 at the end. */
  read(buffer: Uint8Array): Promise<number>;
  close(): void;
}

interface SandboxEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "symlink" | "other";
}

/** The workspace that all calls of a run are confined to: absolute, canonical and a directory. */
export function canonicalRoot(directory: string): string {
  const root = Deno.realPathSync(directory);
  if (!Deno.statSync(root).isDirectory) throw new Deno.errors.NotADirectory(`Not a directory: ${directory}`);
  return root;
}

/**
 * Finds what `given` names. Relative paths start at the workspace; absolute ones must lie inside it.
 *
 * @throws {ToolFailure} when it leads outside, does not exist, or is neither a file nor a directory. The message does not
 * reveal whether something exists outside.
 */
export function locate(root: string, given: string): Located {
  const asked = lexicalPath(root, given);
  const shown = shownIn(root, asked);
  const path = resolveLinks(root, asked, shown);
  const facts = factsOf(path);
  if (facts === null) throw changed(shown);
  if (!facts.isFile && !facts.isDirectory) {
    throw new ToolFailure(`Cannot open ${quotedPath(shown)}: it is ${specialKind(facts)}, not a file`);
  }
  return locatedAt(path, shownIn(root, path), facts);
}

function locatedAt(path: string, shown: string, { isFile, dev, ino }: Deno.FileInfo): Located {
  return { path, shown, kind: isFile ? "file" : "directory", device: dev, inode: ino };
}

/**
 * Opens a located file for reading, and makes sure that it is what was located. Never waits: a FIFO put in
 * its place opens at once (`O_NONBLOCK`) and is refused, a link at its end is not followed.
 *
 * @throws {ToolFailure} when it changed since, or may not be read.
 */
export function openFile(root: string, located: Located): SandboxFile {
  if (located.kind !== "file") {
    throw new ToolFailure(`Cannot open ${quotedPath(located.shown)}: it is a directory`);
  }
  const fd = attempt(located, () => openSync(located.path, OPEN_FLAGS));
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) throw changed(located.shown);
    const same = (device: number, inode: number | null) => device === facts.dev && inode === facts.ino;
    if (!same(located.device, located.inode)) throw changed(located.shown);
    const isSame = () => {
      const now = factsOf(located.path);
      return now !== null && same(now.dev, now.ino);
    };
    verify(PASSES, located, [() => isInPlace(root, located.path), isSame]);
    return {
      size: facts.size,
      read: (buffer) => readSome(fd, buffer),
      close: () => closeSync(fd),
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * The entries of a located directory, in code unit order. Names that are not valid Unicode are left out:
 * nothing could be opened by them.
 *
 * @throws {ToolFailure} when the directory changed while it was read, or may not be read.
 */
export function listDirectory(root: string, located: Located): SandboxEntry[] {
  if (located.kind !== "directory") {
    throw new ToolFailure(`Cannot list ${quotedPath(located.shown)}: it is a file`);
  }
  const listed = attempt(located, () => [...Deno.readDirSync(located.path)]);
  const entries = listed.filter((entry) =>
    !entry.name.includes("\ufffd") || factsOf(join(located.path, entry.name)) !== null
  );
  // A listing has no handle to compare: each name must be there while the directory is in its place.
  if (entries.length > 0) {
    let next = 0;
    verify(Math.max(PASSES, entries.length), located, [
      () => isInPlace(root, located.path),
      () => factsOf(join(located.path, entries[next++ % entries.length]?.name ?? "")) !== null,
    ]);
  }
  return entries.map((entry) => ({ name: entry.name, kind: entryKind(entry) }))
    .sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** The entry `name` of a located directory, or `null` when it is gone, a link or special. */
export function locateEntry(directory: Located, name: string): Located | null {
  const path = join(directory.path, name);
  const facts = factsOf(path);
  if (facts === null || (!facts.isFile && !facts.isDirectory)) return null;
  return locatedAt(path, directory.shown === "." ? name : `${directory.shown}/${name}`, facts);
}

/** The canonical path of `asked`; links may lead anywhere inside the workspace. */
function resolveLinks(root: string, asked: string, shown: string): string {
  let path: string | null = null;
  let failure: unknown;
  try {
    path = Deno.realPathSync(asked);
  } catch (error) {
    failure = error;
  }
  if (path !== null && isInside(root, path)) return path;
  // All failures past a link have one message: it must not reveal what exists outside.
  if (path !== null || passesLink(root, asked)) {
    throw new ToolFailure(
      `Cannot open ${quotedPath(shown)}: a symbolic link on the way leads outside the workspace, or nowhere`,
    );
  }
  if (failure instanceof Deno.errors.NotFound || failure instanceof Deno.errors.NotADirectory) {
    const parent = shownIn(root, nearestDirectory(root, asked));
    throw new ToolFailure(
      `Cannot open ${quotedPath(shown)}: no such file or directory (the nearest that exists is ${
        quotedPath(parent)
      })`,
    );
  }
  throw openFailure(shown, failure);
}

function passesLink(root: string, asked: string): boolean {
  let path = root;
  for (const segment of segmentsOf(root, asked)) {
    path = join(path, segment);
    const facts = factsOf(path);
    if (facts === null) return false;
    if (facts.isSymlink) return true;
  }
  return false;
}

function nearestDirectory(root: string, asked: string): string {
  for (let path = dirname(asked); path.length > root.length; path = dirname(path)) {
    if (factsOf(path)?.isDirectory) return path;
  }
  return root;
}

/** True while `path` is canonical and inside: no link has come into it. */
function isInPlace(root: string, path: string): boolean {
  try {
    return isInside(root, path) && Deno.realPathSync(path) === path;
  } catch {
    return false;
  }
}

function verify(passes: number, located: Located, questions: readonly [() => boolean, () => boolean]): void {
  for (let pass = 0; pass < passes; pass++) {
    const order = isOddParity(pass) ? questions.toReversed() : questions;
    if (!order.every((holds) => holds())) throw changed(located.shown);
  }
}

/** The Thue–Morse sequence: parity of the bits that are set in `n`. */
function isOddParity(n: number): boolean {
  let odd = false;
  for (let rest = n; rest > 0; rest &= rest - 1) odd = !odd;
  return odd;
}

// Windows knows neither of the last two; there the numbers are absent.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const CHUNK_BYTES = 64 * 1024;

/** Reads to the end; the size at opening is where the buffer starts, not where reading ends. */
export async function readAll(
  file: SandboxFile,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<Uint8Array | "binary" | "large"> {
  if (file.size > maxBytes) return "large";
  let buffer = new Uint8Array(file.size + CHUNK_BYTES);
  let length = 0;
  while (true) {
    signal?.throwIfAborted();
    const count = await file.read(buffer.subarray(length));
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (isBinary(buffer.subarray(0, length))) return "binary";
    if (length > maxBytes) return "large";
    if (length === buffer.length) {
      const larger = new Uint8Array(length * 2);
      larger.set(buffer);
      buffer = larger;
    }
  }
}

function readSome(fd: number, buffer: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, null, (error, count) => error ? reject(error) : resolve(count));
  });
}

/** Facts about a path, a link at its end not followed; `null` when nothing is there or it cannot be reached. */
export function factsOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch {
    return null;
  }
}

function entryKind(entry: Deno.DirEntry): SandboxEntry["kind"] {
  if (entry.isSymlink) return "symlink";
  if (entry.isDirectory) return "directory";
  return entry.isFile ? "file" : "other";
}

/** Names what is neither a file nor a directory. */
export function specialKind(facts: Deno.FileInfo): string {
  if (facts.isFifo) return "a FIFO";
  if (facts.isSocket) return "a socket";
  return facts.isBlockDevice || facts.isCharDevice ? "a device" : "something special";
}

function attempt<T>(located: Located, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw openFailure(located.shown, error);
  }
}

function openFailure(shown: string, error: unknown): ToolFailure {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const denied = error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable ||
    code === "EACCES" || code === "EPERM";
  const why = denied ? "permission denied" : "it changed while it was opened, or cannot be read";
  return new ToolFailure(`Cannot open ${quotedPath(shown)}: ${why}`);
}

function changed(shown: string): ToolFailure {
  return new ToolFailure(`Cannot open ${quotedPath(shown)}: it changed while it was opened`);
}

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

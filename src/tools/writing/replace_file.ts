/** Writes one file of the workspace as a whole: readers see the old content or the new, never a part. */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { refusal, type WriteTarget } from "./write_target.ts";
import { basename, dirname, join } from "node:path";
import { segmentsOf } from "../sandbox_path.ts";
import { ToolFailure } from "../tool.ts";

/** Number of names that are tried for the temp file before something else must be wrong. */
const MAX_TEMPORARY_NAMES = 100;
/** Mode of a new file before the umask, as other programs make them. */
const NEW_FILE_MODE = 0o666;
/** Mode of a temporary file that will get the mode of the file that it replaces. */
const PRIVATE_MODE = 0o600;
/** Permission bits that are kept. Set-user-id and the like are not: the kernel, too, drops them on a write. */
const KEPT_MODE = 0o777;

/** The file that is about to be replaced. */
export interface CurrentFile {
  /** Length in bytes. */
  readonly size: number;
  read(): Uint8Array;
}

/**
 * Replaces the content of a target by what `change` makes of the file that is there (`null` for none); missing
 * directories are made. The file keeps its mode and, where we may, its owner. A second name of the same file (a
 * hard link) keeps the old content: what is put in place is a file of its own, so that nothing outside the
 * workspace changes through another name.
 *
 * @throws {ToolFailure} when it cannot be written, or is no regular file any more; and whatever `change` throws.
 */
export function replaceFile(
  root: string,
  target: WriteTarget,
  change: (current: CurrentFile | null) => Uint8Array,
): void {
  const { shown } = target;
  const name = basename(target.path);
  insideDirectoryOf(target, root, () => {
    try {
      const before = factsOf(name);
      if (before !== null && !before.isFile()) throw refusal(shown, "it is not a regular file any more");
      if (before !== null && (before.mode & 0o222) === 0) {
        throw refusal(shown, "the file is read-only (by its mode)");
      }
      const read = () => before === null ? new Uint8Array(0) : readWhole(name, before, shown);
      const content = change(before === null ? null : { size: before.size, read });
      putInPlace(name, { before, content, shown });
    } catch (error) {
      throw asRefusal(error, shown);
    }
  });
}

/** The content of a file by its bare name: no link is followed, no FIFO waited for. */
function readWhole(name: string, before: Stats, shown: string): Uint8Array {
  let fd: number | null = null;
  try {
    fd = openSync(name, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    if (!isSame(before, fstatSync(fd))) throw refusal(shown, "it changed while it was opened");
    const content = new Uint8Array(before.size);
    let length = 0;
    while (length < content.length) {
      const count = readSync(fd, content, length, content.length - length, null);
      if (count === 0) break;
      length += count;
    }
    return content.subarray(0, length);
  } catch (error) {
    throw asRefusal(error, shown);
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

interface Replacement {
  readonly before: Stats | null;
  readonly content: Uint8Array;
  readonly shown: string;
}

function putInPlace(name: string, { before, content, shown }: Replacement): void {
  const temporary = createTemporary(before === null ? NEW_FILE_MODE : PRIVATE_MODE);
  try {
    try {
      // Only matters in a runtime with fewer permissions, where bare names do not reach the kernel.
      if (!isSame(fstatSync(temporary.fd), factsOf(temporary.name))) {
        throw refusal(shown, "a directory on the way changed while it was written");
      }
      for (let written = 0; written < content.length;) {
        written += writeSync(temporary.fd, content, written, content.length - written);
      }
      if (before !== null) keepFacts(temporary.fd, before);
      fsyncSync(temporary.fd);
    } finally {
      closeSync(temporary.fd);
    }
    if (!isSame(before, factsOf(name))) throw refusal(shown, "it changed while it was written");
    // A link that comes in now is replaced itself: rename follows none at its end.
    renameSync(temporary.name, name);
  } catch (error) {
    removeQuietly(temporary.name);
    throw error;
  }
}

function removeQuietly(name: string): void {
  try {
    unlinkSync(name);
  } catch {
    // The failure that led here says more than this one.
  }
}

/** A new file in the working directory, open for writing: never one that was there before. */
function createTemporary(mode: number): { readonly name: string; readonly fd: number } {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  for (let attempt = 1;; attempt++) {
    const name = `.reprise-write-${attempt}.tmp`;
    try {
      return { name, fd: openSync(name, flags, mode) };
    } catch (error) {
      const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
      if (!exists || attempt === MAX_TEMPORARY_NAMES) throw error;
    }
  }
}

function keepFacts(fd: number, before: Stats): void {
  const now = fstatSync(fd);
  if (now.uid !== before.uid || now.gid !== before.gid) {
    try {
      fchownSync(fd, before.uid, before.gid);
    } catch {
      // Only root may give files away; the content matters more than the owner.
    }
  }
  fchmodSync(fd, before.mode & KEPT_MODE);
}

function isSame(before: Stats | null, now: Stats | null): boolean {
  if (before === null || now === null) return before === now;
  return before.dev === now.dev && before.ino === now.ino && before.size === now.size &&
    before.mtimeMs === now.mtimeMs;
}

function factsOf(name: string): Stats | null {
  try {
    return lstatSync(name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Runs `body` with the target's directory as working directory, and steps back. `body` uses bare names. Makes the
 * directories that a new file lacks.
 *
 * @throws {ToolFailure} when a link is in the way, a directory is missing or may not be entered.
 */
function insideDirectoryOf({ path, shown, exists }: WriteTarget, root: string, body: () => void): void {
  const before = workingDirectory();
  try {
    enter(root, root, shown);
    let place = root;
    for (const name of segmentsOf(root, dirname(path))) {
      place = join(place, name);
      if (!exists) makeDirectory(name, shown);
      enter(name, place, shown);
    }
    body();
  } finally {
    // The earlier working directory may be gone; the workspace serves as well.
    if (before === null || !tryTo(() => Deno.chdir(before))) tryTo(() => Deno.chdir(root));
  }
}

/** Steps into `name` and makes sure that the kernel agrees on where that is. */
function enter(name: string, place: string, shown: string): void {
  if (!tryTo(() => Deno.chdir(name))) throw refusal(shown, "a directory on the way cannot be entered");
  if (workingDirectory() !== place) {
    throw refusal(shown, "a directory on the way changed while it was opened, or is a symbolic link");
  }
}

function makeDirectory(name: string, shown: string): void {
  try {
    Deno.mkdirSync(name);
  } catch (error) {
    // mkdir follows no link at its end; what is there already is judged by entering it.
    if (!(error instanceof Deno.errors.AlreadyExists)) throw asRefusal(error, shown);
  }
}

/** An error of the system as a refusal that names no absolute path. */
function asRefusal(error: unknown, shown: string): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EACCES":
    case "EPERM":
      return refusal(shown, "permission denied");
    case "ENOSPC":
    case "EDQUOT":
      return refusal(shown, "no space is left on the disk");
    case "EROFS":
      return refusal(shown, "the file system is read-only");
    case "ENAMETOOLONG":
      return refusal(shown, "a name in it is too long");
    default:
      return refusal(shown, `it changed meanwhile, or the system refused (${String(code ?? "no code")})`);
  }
}

function workingDirectory(): string | null {
  try {
    return Deno.cwd();
  } catch {
    return null;
  }
}

function tryTo(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

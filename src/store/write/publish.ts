/**
 * Turns bytes into files that a crash cannot tear: temporary file, write, fsync, then a name that no other file has, then
 * fsync of the directory. Only then may the file be acknowledged. Replaced and late files go to `quarantine/`, from which
 * nothing is ever deleted.
 */
import { encodeManifest, type Manifest } from "../../domain/manifest.ts";
import type { Files, Ports, WritableFile } from "../../domain/ports.ts";
import { type Turn, turnFileName } from "../../domain/turn.ts";
import { isTaken, isWithoutLinks, systemCode } from "../fs_errors.ts";
import { DIRECTORY_MODE, FILE_MODE, measureBytes, parentOf, type SessionPaths } from "../layout.ts";
import { chunksOf, namesIn } from "../read/safe_open.ts";

/** Thrown instead of the cause if an fsync failed: the content of the disk is unknown, and nothing is retried. */
export class SyncFailed extends Error {
  override readonly name = "SyncFailed";
}

const TEMPORARY_TRIES = 16;

/**
 * Directories in which a file of ours got its mode when it was created. Later files get it too: nothing changes the umask
 * while the program runs, and a default ACL can only remove bits.
 */
const keepingMode = new Set<string>();

/**
 * Creates a temporary file in `directory` and writes all of `bytes`; with `sync`, durably. Leaves no
 * file if it fails. Returns its path.
 */
export function writeTemporary(
  ports: Ports,
  directory: string,
  { bytes, sync }: { readonly bytes: Uint8Array; readonly sync: boolean },
): string {
  const { path, file } = createTemporary(ports, directory);
  try {
    try {
      fixFileMode(ports.files, path, directory);
      writeWhole(file, bytes);
      if (sync) orSyncFailed(() => file.sync());
    } catch (error) {
      closeAbandoned(file);
      throw error;
    }
    file.close();
  } catch (error) {
    unlinkQuietly(ports.files, path);
    throw error;
  }
  return path;
}

/** Closes an abandoned file: a second error would hide the first. */
function closeAbandoned(file: { close(): void }): void {
  try {
    file.close();
  } catch {
    // The first error is the one to report.
  }
}

function createTemporary(ports: Ports, directory: string): { path: string; file: WritableFile } {
  for (let attempt = 1;; attempt++) {
    const random = Math.floor(ports.random() * 2 ** 48).toString(16).padStart(12, "0");
    const path = `${directory}/.tmp-${ports.process.pid}-${random}`;
    try {
      return { path, file: ports.files.createExclusive(path, FILE_MODE) };
    } catch (error) {
      if (!isTaken(error) || attempt === TEMPORARY_TRIES) throw error;
    }
  }
}

/** Writes all of `bytes`, however little the file takes at a time. */
function writeWhole(file: WritableFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    const count = file.write(bytes.subarray(written));
    if (count <= 0) throw new Error(`The file system took none of ${bytes.length - written} bytes`);
    written += count;
  }
}

/**
 * Gives the finished temporary file its name, which must be free, and makes the name durable. The temporary
 * name is gone afterwards. `check` runs right before; its error leaves the temporary file there.
 *
 * @throws the runtime's `AlreadyExists` when `path` is taken, with the temporary file still there;
 * {@linkcode SyncFailed} when the name may not be durable.
 */
export function claimName({ files }: Ports, temporary: string, path: string, check?: () => void): void {
  check?.();
  takeName(files, temporary, path);
  orSyncFailed(() => files.syncDirectory(parentOf(path)));
}

/**
 * Writes a file of a session durably, under a name that must be free, as {@linkcode claimName} claims it. Leaves nothing if
 * it fails. Throws the runtime's errors, {@linkcode SyncFailed}, and those of `check`.
 */
export function writeNew(
  ports: Ports,
  { root }: SessionPaths,
  { path, bytes, check }: {
    readonly path: string;
    readonly bytes: Uint8Array;
    readonly check?: (() => void) | undefined;
  },
): void {
  const temporary = writeTemporary(ports, root, { bytes, sync: true });
  try {
    claimName(ports, temporary, path, check);
  } catch (error) {
    unlinkQuietly(ports.files, temporary);
    throw error;
  }
}

/** As {@linkcode claimName}; the name is not durable yet. */
export function takeName(files: Files, temporary: string, path: string): void {
  try {
    files.link(temporary, path);
    // The name is claimed: the next writer removes a temporary name that stays.
    unlinkQuietly(files, temporary);
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    // Without links: rename would replace the target, so check first. The lock excludes other writers of ours.
    if (files.facts(path) !== null) {
      throw Object.assign(new Error(`File exists: ${path}`), { code: "EEXIST" });
    }
    files.rename(temporary, path);
  }
}

/**
 * Replaces the manifest in one step and without any fsync, because it is a cache; measures the files if it has no `bytes`.
 * `check` runs right before. Throws the runtime's errors.
 */
export function replaceManifest(
  ports: Ports,
  paths: SessionPaths,
  manifest: Manifest,
  check: () => void = () => {},
): void {
  const { bytes } = encodeManifest({ ...manifest, bytes: manifest.bytes ?? measureBytes(ports, paths) });
  const temporary = writeTemporary(ports, paths.root, { bytes, sync: false });
  try {
    check();
    ports.files.rename(temporary, paths.manifest);
  } catch (error) {
    unlinkQuietly(ports.files, temporary);
    throw error;
  }
}

/** Creates a directory of ours if there is none. Returns true if it was created. Its name is not durable yet. */
export function ensureDirectory(files: Files, path: string): boolean {
  try {
    files.makeDirectory(path, DIRECTORY_MODE);
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
  fixMode(files, path, DIRECTORY_MODE);
  return true;
}

/** Creates a directory of ours with a durable name if there is none. Throws the runtime's errors. */
export function ensureDurableDirectory({ files }: Ports, path: string): void {
  if (files.facts(path) !== null) return;
  if (ensureDirectory(files, path)) orSyncFailed(() => files.syncDirectory(parentOf(path)));
}

/** Restores the permission bits of a new file of ours, unless an earlier one in its directory needed none. */
function fixFileMode(files: Files, path: string, directory: string): void {
  if (!keepingMode.has(directory) && fixMode(files, path, FILE_MODE)) keepingMode.add(directory);
}

/**
 * Restores the permission bits that the umask removed from a file or directory that we just created. Returns true if none
 * was removed.
 */
function fixMode(files: Files, path: string, mode: number): boolean {
  const found = files.facts(path)?.mode ?? null;
  if (found !== null && (found & 0o777) !== mode) files.setMode(path, mode);
  return found !== null && (found & 0o777) === mode;
}

/** Removes a leftover; if that fails, the next sweep does. */
export function unlinkQuietly(files: Files, path: string): void {
  try {
    files.unlink(path);
  } catch {
    // No promise depends on it.
  }
}

/** Runs an fsync; a failure is thrown as {@linkcode SyncFailed}. */
export function orSyncFailed(sync: () => void): void {
  try {
    sync();
  } catch (cause) {
    throw syncFailed(cause);
  }
}

/** Makes the content of closed files durable; a failure is thrown as {@linkcode SyncFailed}. */
export async function syncFiles({ files }: Ports, paths: readonly string[]): Promise<void> {
  try {
    await files.syncFiles(paths);
  } catch (cause) {
    throw syncFailed(cause);
  }
}

function syncFailed(cause: unknown): SyncFailed {
  const found = cause instanceof Error ? cause.message : String(cause);
  return Object.assign(new SyncFailed(`fsync failed: ${found}`, { cause }), {
    code: systemCode(cause) ?? "EIO",
  });
}

/** A new file that is written in chunks and durable once it is closed. Its name is not durable yet. */
export class NewFile {
  readonly #file: ReturnType<Ports["files"]["createExclusive"]>;
  readonly #sync: boolean;

  /** Throws the runtime's errors. */
  constructor(ports: Ports, path: string, { sync = true }: {
    /** False if {@linkcode syncFiles} will make it durable. @default true */
    readonly sync?: boolean;
  } = {}) {
    this.#sync = sync;
    this.#file = ports.files.createExclusive(path, FILE_MODE);
    try {
      fixFileMode(ports.files, path, parentOf(path));
    } catch (error) {
      closeAbandoned(this.#file);
      throw error;
    }
  }

  write(bytes: Uint8Array): void {
    writeWhole(this.#file, bytes);
  }

  /** Closes the file, after the written bytes are durable. */
  close(): void {
    if (this.#sync) orSyncFailed(() => this.#file.sync());
    this.#file.close();
  }

  /** Abandons the file; the creator of its directory removes it. */
  abandon(): void {
    closeAbandoned(this.#file);
  }
}

/** Writes a new file from chunks, durably. Throws the runtime's errors. */
export function writeChunks(ports: Ports, path: string, chunks: Iterable<Uint8Array>): void {
  fillFile(new NewFile(ports, path), chunks);
}

/** Writes all chunks and closes the file, or abandons it. */
export function fillFile(file: NewFile, chunks: Iterable<Uint8Array>): void {
  try {
    for (const chunk of chunks) file.write(chunk);
    file.close();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Gives a file a second name, or copies it where the file system has no links. Throws the runtime's errors. */
export function linkOrCopy(ports: Ports, from: string, to: string): "linked" | "copied" {
  try {
    ports.files.link(from, to);
    return "linked";
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    writeChunks(ports, to, chunksOf(ports, from));
    return "copied";
  }
}

/** Puts a written turn whose number was taken into `quarantine/`, durably. Returns its path inside the session. */
export function quarantineTurn(
  ports: Ports,
  paths: SessionPaths,
  late: { readonly turn: Pick<Turn, "turn" | "sum">; readonly temporary: string },
): string {
  ensureDurableDirectory(ports, paths.quarantine);
  const name = lateTurnName(late.turn);
  claimName(ports, late.temporary, `${paths.quarantine}/${name}`);
  return `quarantine/${name}`;
}

/** The name of a late turn in quarantine. */
export function lateTurnName({ turn, sum }: Pick<Turn, "turn" | "sum">): string {
  return `${turnFileName(turn)}.diverged-${sum.slice(0, 16)}`;
}

/** Longest part of a file's own name that is kept in its name in quarantine, in UTF-16 units. */
const MAX_KEPT_NAME = 60;

/**
 * Reads the names that are taken in `quarantine/`, and returns a function that chooses the full path to keep a file under:
 * `<name>.repair-<n>`, the first n from 1 that is free or already names the same file, left by a killed repair. Throws the
 * runtime's errors.
 */
export function quarantineNames(ports: Ports, { quarantine }: SessionPaths): (path: string) => string {
  const taken = new Set(namesIn(ports, quarantine));
  return (path) => {
    const name = path.slice(path.lastIndexOf("/") + 1).slice(0, MAX_KEPT_NAME);
    for (let number = 1;; number++) {
      const kept = `${name}.repair-${number}`;
      const full = `${quarantine}/${kept}`;
      if (taken.has(kept) && !isSameFile(ports, path, full)) continue;
      taken.add(kept);
      return full;
    }
  };
}

function isSameFile({ files }: Ports, a: string, b: string): boolean {
  const [one, other] = [files.facts(a), files.facts(b)];
  return one !== null && other !== null && one.inode !== null && one.inode === other.inode &&
    one.device === other.device;
}

/**
 * Gives the file at `path` a second name in `quarantine/`, or moves it there if it can have only one name: a directory,
 * or a file system without links. Not durable yet.
 */
export function keepAs(ports: Ports, path: string, kept: string): void {
  if (isSameFile(ports, path, kept)) return;
  try {
    ports.files.link(path, kept);
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    ports.files.rename(path, kept);
  }
}

/**
 * How bytes become files that a crash cannot tear: temporary file, write, fsync, then a name that nothing else
 * has, then fsync of the directory. Only then may anybody be told.
 *
 * @module
 */
import type { Files, Ports, WritableFile } from "../../domain/ports.ts";
import { isTaken, meansNoLinks, systemCode } from "../fs_errors.ts";
import { DIRECTORY_MODE, FILE_MODE } from "../layout.ts";

/** Thrown in place of the cause when an fsync failed: what the disk holds is unknown, and nothing is retried. */
export class SyncFailed extends Error {
  override readonly name = "SyncFailed";
}

const TEMPORARY_TRIES = 16;

/**
 * Creates a temporary file in `directory` and writes all of `bytes`; with `sync`, durably. Leaves nothing
 * behind when it fails. Returns its path.
 */
export function writeTemporary(
  ports: Ports,
  directory: string,
  { bytes, sync }: { readonly bytes: Uint8Array; readonly sync: boolean },
): string {
  const { path, file } = createTemporary(ports, directory);
  try {
    try {
      fixMode(ports.files, path, FILE_MODE);
      writeAll(file, bytes);
      if (sync) orSyncFailed(() => file.sync());
    } catch (error) {
      closeQuietly(file);
      throw error;
    }
    file.close();
  } catch (error) {
    unlinkQuietly(ports.files, path);
    throw error;
  }
  return path;
}

/** Closes a file that is given up already: a second error would hide the first. */
export function closeQuietly(file: { close(): void }): void {
  try {
    file.close();
  } catch {
    // What is thrown is what went wrong first.
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
export function writeAll(file: WritableFile, bytes: Uint8Array): void {
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
 * @throws the runtime's `AlreadyExists` when `to` is taken, with the temporary file still there;
 * {@linkcode SyncFailed} when the name may not be durable.
 */
export function claimName(
  ports: Ports,
  temporary: string,
  to: { readonly path: string; readonly directory: string; readonly check?: () => void },
): void {
  const { files } = ports;
  to.check?.();
  try {
    files.link(temporary, to.path);
    // The name is taken: a temporary name that stays is swept by the next writer.
    unlinkQuietly(files, temporary);
  } catch (error) {
    if (!meansNoLinks(error)) throw error;
    // No links here: rename would replace, so look first. The lock keeps other writers of ours away.
    if (files.facts(to.path) !== null) {
      throw Object.assign(new Error(`File exists: ${to.path}`), { code: "EEXIST" });
    }
    files.rename(temporary, to.path);
  }
  orSyncFailed(() => files.syncDirectory(to.directory));
}

/** Replaces `path` by `bytes` in one step and without any fsync: for caches only. `check` runs right before. */
export function replaceCache(
  ports: Ports,
  path: string,
  { bytes, directory, check }: {
    readonly bytes: Uint8Array;
    readonly directory: string;
    readonly check?: () => void;
  },
): void {
  const temporary = writeTemporary(ports, directory, { bytes, sync: false });
  try {
    check?.();
    ports.files.rename(temporary, path);
  } catch (error) {
    unlinkQuietly(ports.files, temporary);
    throw error;
  }
}

/** Makes a directory of ours where there is none. Returns true when it made it. Its name is not durable yet. */
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

/** Gives back the permission bits that the umask took from a file or directory that we just created. */
export function fixMode(files: Files, path: string, mode: number): void {
  const found = files.facts(path)?.mode ?? null;
  if (found !== null && (found & 0o777) !== mode) files.setMode(path, mode);
}

/** Removes a leftover; a failure is left for the next sweep. */
export function unlinkQuietly(files: Files, path: string): void {
  try {
    files.unlink(path);
  } catch {
    // Nothing that was promised depends on it.
  }
}

/** Runs an fsync; a failure is thrown as {@linkcode SyncFailed}. */
export function orSyncFailed(sync: () => void): void {
  try {
    sync();
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw Object.assign(new SyncFailed(`fsync failed: ${found}`, { cause }), {
      code: systemCode(cause) ?? "EIO",
    });
  }
}

/**
 * The real file port: Deno's synchronous API, one system call after the other in the order of the calls.
 *
 * @module
 */
import type { FileFacts, Files, WritableFile } from "../domain/ports.ts";

const PERMISSION_BITS = 0o7777;

/** The file system of this machine. Errors are `Deno.errors.*`, or `Error` with a `code` such as `ENOSPC`. */
export const denoFiles: Files = {
  facts(path) {
    try {
      return factsOf(Deno.lstatSync(path));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    }
  },
  read: (path) => Deno.readFileSync(path),
  openRead(path) {
    const file = Deno.openSync(path, { read: true });
    return { read: (into) => file.readSync(into) ?? 0, close: () => file.close() };
  },
  holdDirectory(path) {
    // Windows opens no directory as a file.
    return Deno.build.os === "windows" ? { close: () => {} } : Deno.openSync(path, { read: true });
  },
  list: (path) => Array.from(Deno.readDirSync(path), (entry) => entry.name),
  makeDirectory: (path, mode) => Deno.mkdirSync(path, { mode }),
  createExclusive: (path, mode) => writable(Deno.openSync(path, { write: true, createNew: true, mode })),
  link: (from, to) => Deno.linkSync(from, to),
  rename: (from, to) => Deno.renameSync(from, to),
  unlink: (path) => Deno.removeSync(path),
  setMode: (path, mode) => Deno.chmodSync(path, mode),
  syncDirectory(path) {
    // Windows opens no directory as a file, and has no such call: its journal orders the names.
    if (Deno.build.os === "windows") return;
    using directory = Deno.openSync(path, { read: true });
    directory.syncSync();
  },
};

function writable(file: Deno.FsFile): WritableFile {
  return {
    write: (bytes) => file.writeSync(bytes),
    sync: () => file.syncSync(),
    close: () => file.close(),
  };
}

function factsOf(info: Deno.FileInfo): FileFacts {
  return {
    kind: info.isSymlink ? "symlink" : info.isDirectory ? "directory" : info.isFile ? "file" : "other",
    size: info.size,
    mode: info.mode === null ? null : info.mode & PERMISSION_BITS,
    owner: info.uid,
    device: info.dev,
    inode: info.ino,
    modified: info.mtime?.getTime() ?? null,
  };
}

/**
 * The real ports for files and processes. Files: Deno's synchronous API, one system call after the other in the order of
 * the calls. Processes: `/proc` of Linux; systems without it show nothing here.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { FileFacts, Files, ProcessIdentity } from "../domain/ports.ts";

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
    const file = openToRead(path);
    return { read: (into) => readSync(file, into, 0, into.length, null), close: () => closeSync(file) };
  },
  holdDirectory(path) {
    // Windows cannot open a directory as a file.
    return Deno.build.os === "windows" ? { close: () => {} } : Deno.openSync(path, { read: true });
  },
  list: (path) => Array.from(Deno.readDirSync(path), (entry) => entry.name),
  makeDirectory: (path, mode) => Deno.mkdirSync(path, { mode }),
  createExclusive(path, mode) {
    const file = Deno.openSync(path, { write: true, createNew: true, mode });
    return {
      write: (bytes) => file.writeSync(bytes),
      sync: () => file.syncSync(),
      close: () => file.close(),
    };
  },
  link: (from, to) => Deno.linkSync(from, to),
  rename: (from, to) => Deno.renameSync(from, to),
  unlink: (path) => Deno.removeSync(path),
  setMode: (path, mode) => Deno.chmodSync(path, mode),
  async syncFiles(paths) {
    // On this thread, in order, while threads would not pay.
    if (paths.length <= SIDE_BY_SIDE) {
      return paths.forEach((path) => syncOpened(Deno.openSync(path, { write: true })));
    }
    let next = 0;
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, async () => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        const file = Deno.openSync(path, { write: true });
        try {
          await file.sync();
        } finally {
          file.close();
        }
      }
    }));
  },
  syncDirectory(path) {
    // Windows cannot open a directory as a file, and needs no fsync of one: its journal orders the names.
    if (Deno.build.os === "windows") return;
    syncOpened(Deno.openSync(path, { read: true }));
  },
};

/** Number of files that are synced at once: a journal writes the changes of all waiting ones together. */
const SIDE_BY_SIDE = 64;

/** Syncs and closes. Without `using`: the bundler of the executable drops one whose value is used once. */
function syncOpened(file: Deno.FsFile): void {
  try {
    file.syncSync();
  } finally {
    file.close();
  }
}

/** Opens a file with `node:fs`, whose files cost a third less than those of `Deno.openSync`. */
function openToRead(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    // Throws the error that all other operations throw.
    Deno.openSync(path).close();
    throw error;
  }
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

/** Index of the start time in `/proc/PID/stat`, counted after the name: field 22 of all (proc_pid_stat(5)). */
const START_TIME_AFTER_NAME = 19;

/** Identity of a process of this PID namespace; `null` if it does not run, or if `/proc` does not show it. */
export function processIdentity(pid: number): ProcessIdentity | null {
  if (!showsOurNamespace()) return null;
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    // The name is in parentheses and may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const start = Number(fields[START_TIME_AFTER_NAME]);
    if (!Number.isSafeInteger(start)) return null;
    return {
      pid_namespace: Deno.readLinkSync("/proc/self/ns/pid"),
      boot_id: Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim(),
      start_time: start,
    };
  } catch {
    return null;
  }
}

/** True if `/proc` shows that the process has the file at `path` open. */
export function hasOpenFile(pid: number, path: string): boolean {
  if (!showsOurNamespace()) return false;
  try {
    const { dev, ino } = Deno.statSync(path);
    for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
      const open = followedFacts(`/proc/${pid}/fd/${name}`);
      if (open?.dev === dev && open.ino === ino) return true;
    }
  } catch {
    // The process ended, or belongs to another user.
  }
  return false;
}

/** False if `/proc` is missing, or belongs to another PID namespace: its numbers are then not ours. */
function showsOurNamespace(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    return Deno.readLinkSync("/proc/self") === String(Deno.pid);
  } catch {
    return false;
  }
}

function followedFacts(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}

/**
 * Advisory lock on a file, which the system releases with the process. The file holds the owner's identity, for messages
 * to refused processes.
 */
import { decodeUtf8Leniently, encodeUtf8 } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  numberMember,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import type { Ports, ProcessIdentity } from "../../domain/ports.ts";
import { isDiskFull, isTaken, systemCode } from "../fs_errors.ts";
import { FILE_MODE } from "../layout.ts";
import { lookForFile, readSafely, type Refused } from "../read/safe_open.ts";

/** Owner of a lock, as recorded in the lock file. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601 UTC. */
  readonly since: string;
  /** Absent in lines of older versions, and on platforms that do not provide it. */
  readonly identity?: ProcessIdentity;
}

export interface LockState {
  readonly held: boolean;
  /** `null` for a free lock, and while a new holder has not written its line yet. */
  readonly owner: LockOwner | null;
}

export interface LockOptions {
  /** Milliseconds to wait for the owner to finish. 0 gives up after a moment. @default {0} */
  readonly waitMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** For verbs that free space: if the disk is full, the lock is taken without the owner's line. */
  readonly toFree?: true;
}

/** Errors for a lock that cannot be taken, in terms of what it protects. */
interface LockRefusals {
  /** Creates the error for a path that holds no plain file of ours. */
  readonly unusable: (found: Refused) => RepriseError;
  /** Creates the error for a lock that another process holds; `owner` is `null` until it has written its line. */
  readonly held: (owner: LockOwner | null) => RepriseError;
}

const POLL_MS = 20;
/** Time for which a refused lock is polled at least: a reader may hold it for a moment to inspect it. */
const MOMENT_MS = 60;
/**
 * The same for a lock without an owner that may run. A process that its last owner was just starting holds a copy of the
 * descriptor, and with it the lock, until it runs its own program.
 */
const MOMENT_WITHOUT_OWNER_MS = 1000;
const MAX_OWNER_BYTES = 4096;

/** A file with our lock on it. */
interface LockedFile {
  readonly file: Deno.FsFile;
  readonly isNew: boolean;
}

export class FileLock {
  /** True if the file was missing, and no other process has locked it before us. */
  readonly isNew: boolean;
  readonly #file: Deno.FsFile;
  #held = true;

  private constructor({ file, isNew }: LockedFile) {
    this.#file = file;
    this.isNew = isNew;
  }

  /**
   * Takes the lock on the file at `path`, which is created if it is missing.
   *
   * @throws {RepriseError} those of `options`; `interrupted` when `signal` aborts; the runtime's errors, such as
   * `ENOENT` if the directory is missing.
   */
  static async acquire(ports: Ports, path: string, options: LockOptions & LockRefusals): Promise<FileLock> {
    const deadline = performance.now() + (options.waitMs ?? 0);
    for (;;) {
      const waitMs = Math.max(0, deadline - performance.now());
      const locked = await openAndTake(ports, path, { ...options, waitMs });
      // The file may have been removed since it was opened: a lock on a file without a name excludes no writer.
      if (locked !== null) return new FileLock(locked);
    }
  }

  /** Releases the lock. A second call does nothing. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    try {
      this.#file.truncateSync(0);
    } catch {
      // The owner's line is only for people; closing the descriptor releases the lock.
    } finally {
      this.#file.close();
    }
  }
}

/** Returns the holder of the lock on the file at `path`, without writing anything. Throws the runtime's errors. */
export async function inspectFileLock(ports: Ports, path: string): Promise<LockState> {
  const free: LockState = { held: false, owner: null };
  if (lookForFile(ports, path).status !== "ok") return free;
  try {
    const file = Deno.openSync(path, { read: true });
    if (!(await takeLock(file, { exclusive: false, owner: () => possibleOwner(ports, path) }))) {
      // Read after the refusal: an earlier read may return the line of a previous holder.
      return { held: true, owner: ownerOf(ports, path) };
    }
    file.close();
  } catch (error) {
    // The last act of some holders is to remove the file.
    if (systemCode(error) !== "ENOENT") throw error;
  }
  return free;
}

/**
 * True if another process holds the lock on the file at `path` at this moment. Does not wait, so that a process that only
 * inspects the lock, or is just being started by its last owner, may count as its holder. Throws the runtime's errors.
 */
export function isLocked(ports: Ports, path: string): boolean {
  if (lookForFile(ports, path).status !== "ok") return false;
  const file = Deno.openSync(path, { read: true });
  try {
    return !file.tryLockSync(false);
  } finally {
    file.close();
  }
}

/** Names the owner of a lock, for messages. */
export function ownerName(owner: LockOwner | null): string {
  return owner === null
    ? "another process, which has not given its name yet"
    : `process ${owner.pid} on host ${owner.host} since ${owner.since}`;
}

/** Returns the locked file with our identity in it; `null` if its path names another file by now. */
async function openAndTake(
  ports: Ports,
  path: string,
  options: LockOptions & LockRefusals,
): Promise<LockedFile | null> {
  const owner = () => possibleOwner(ports, path);
  const { file, isNew } = openLockFile(ports, path, options);
  if (!(await takeLock(file, { exclusive: true, owner, ...options }))) {
    throw options.held(ownerOf(ports, path));
  }
  try {
    if (namesSameFile(ports, path, file)) {
      fixLockMode(ports, path);
      // Another process may have locked our new file before us: its line is in it.
      const isUnused = isNew && file.statSync().size === 0;
      writeOwner(ports, file, options);
      return { file, isNew: isUnused };
    }
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return null;
}

function openLockFile(ports: Ports, path: string, { unusable }: LockRefusals): LockedFile {
  for (;;) {
    const looked = lookForFile(ports, path);
    if (looked.status === "refused") throw unusable(looked);
    if (looked.status === "ok") {
      return { file: Deno.openSync(path, { read: true, write: true }), isNew: false };
    }
    try {
      const file = Deno.openSync(path, { read: true, write: true, createNew: true, mode: FILE_MODE });
      return { file, isNew: true };
    } catch (error) {
      // Another writer created it between the inspection and the creation.
      if (!isTaken(error)) throw error;
    }
  }
}

/** Restores the mode of the lock file: the umask may have removed bits, or they were changed since. */
function fixLockMode(ports: Ports, path: string): void {
  const mode = ports.files.facts(path)?.mode ?? null;
  if (mode !== null && (mode & 0o777) !== FILE_MODE) ports.files.setMode(path, FILE_MODE);
}

/** Takes the lock on `file`, or closes the file and returns false. */
async function takeLock(
  file: Deno.FsFile,
  { exclusive, owner, waitMs = 0, signal }: LockOptions & {
    readonly exclusive: boolean;
    /** Reads the owner if that may run; `null` without one, or if it has not written its line yet. */
    readonly owner: () => LockOwner | null;
  },
): Promise<boolean> {
  const start = performance.now();
  try {
    while (!file.tryLockSync(exclusive)) {
      // A winner of a race writes its line a moment after it took the lock: then the short wait is enough.
      const momentMs = owner() === null ? MOMENT_WITHOUT_OWNER_MS : MOMENT_MS;
      if (performance.now() - start >= Math.max(waitMs, momentMs)) {
        file.close();
        return false;
      }
      await pause(POLL_MS, signal);
    }
    return true;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Waits; rejects with `interrupted` when `signal` aborts. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted !== true) return resolve();
      const message = "Cannot take the lock: the waiting was interrupted";
      reject(new RepriseError("interrupted", message, { hint: "Run the command again" }));
    };
    const timer = setTimeout(end, milliseconds);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end);
  });
}

function namesSameFile(ports: Ports, path: string, file: Deno.FsFile): boolean {
  const named = ports.files.facts(path);
  if (named === null) return false;
  const held = file.statSync();
  return named.inode === null || (named.inode === held.ino && named.device === held.dev);
}

function writeOwner(ports: Ports, file: Deno.FsFile, { toFree }: LockOptions): void {
  const { pid, host, identityOf } = ports.process;
  const identity = identityOf(pid);
  // Real time, for people: reading a fixture's clock would advance it.
  const owner: LockOwner = {
    pid,
    host,
    since: new Date().toISOString(),
    ...(identity === null ? {} : { identity }),
  };
  const line = encodeUtf8(`${JSON.stringify(owner)}\n`);
  try {
    file.truncateSync(0);
    file.seekSync(0, Deno.SeekMode.Start);
    for (let written = 0; written < line.length;) written += file.writeSync(line.subarray(written));
  } catch (error) {
    if (toFree !== true || !isDiskFull(error)) throw error;
  }
}

/** Returns the owner that the lock file names, unless its process is known to have ended; otherwise `null`. */
function possibleOwner(ports: Ports, path: string): LockOwner | null {
  const owner = ownerOf(ports, path);
  return owner === null || hasEnded(ports, owner) ? null : owner;
}

function hasEnded({ process }: Ports, { pid, host, identity }: LockOwner): boolean {
  const ours = process.identityOf(process.pid);
  if (ours === null || identity === undefined || host !== process.host) return false;
  const isComparable = identity.boot_id === ours.boot_id && identity.pid_namespace === ours.pid_namespace;
  return isComparable && process.identityOf(pid)?.start_time !== identity.start_time;
}

/** The owner that the lock file names; `null` if there is none, or if its line is not written yet. */
function ownerOf(ports: Ports, path: string): LockOwner | null {
  const read = readSafely(ports, path, { maxBytes: MAX_OWNER_BYTES });
  if (read.status !== "ok") return null;
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8Leniently(read.bytes));
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const pid = numberMember(value, "pid");
  const host = stringMember(value, "host");
  const since = stringMember(value, "since");
  if (pid === undefined || host === undefined || since === undefined) return null;
  const identity = identityIn(objectMember(value, "identity") ?? {});
  return { pid, host, since, ...(identity === null ? {} : { identity }) };
}

function identityIn(value: JsonObject): ProcessIdentity | null {
  const pidNamespace = stringMember(value, "pid_namespace");
  const bootId = stringMember(value, "boot_id");
  const startTime = numberMember(value, "start_time");
  if (pidNamespace === undefined || bootId === undefined || startTime === undefined) return null;
  return { pid_namespace: pidNamespace, boot_id: bootId, start_time: startTime };
}

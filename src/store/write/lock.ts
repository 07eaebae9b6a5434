/**
 * Ensures one writer per session: an advisory lock on the file `lock`, which the system releases with the process. The
 * file holds the owner's identity, for messages to refused writers.
 *
 * @module
 */
import { decodeUtf8Leniently, encodeUtf8 } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import {
  isJsonObject,
  type JsonObject,
  numberMember,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import type { Ports, ProcessIdentity } from "../../domain/ports.ts";
import { isTaken, meansFull, sessionDamaged, storageError, systemCode } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { FILE_MODE, type SessionPaths, sessionPaths } from "../layout.ts";
import { lookForFile, readSafely } from "../read/safe_open.ts";
import { requireSession } from "../read/session.ts";

/** Owner of a lock, as recorded in the lock file. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601 UTC. */
  readonly since: string;
  /** Absent in lines of older versions, and on platforms that do not provide it. */
  readonly identity?: ProcessIdentity;
}

/** Options for the wait for a lock. */
export interface LockOptions {
  /** Milliseconds to wait for the owner to finish. 0 gives up after a moment. */
  readonly waitMs: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** For verbs that free space: if the disk is full, the lock is taken without the owner's line. */
  readonly toFree?: true;
}

/** Interval of polls, on runtimes that can ask without waiting. */
const POLL_MS = 20;
/** Time for which a refused lock is polled at least: a reader may hold it for a moment to inspect it. */
const MOMENT_MS = 60;
/** Wait for a lock with a named owner, on runtimes that can only wait … */
const NAMED_OWNER_MS = 150;
/** … and for a lock without a named owner, which is most likely free. */
const NO_OWNER_MS = 5000;
const MAX_OWNER_BYTES = 4096;

/** A held lock. */
export class SessionLock {
  readonly #file: Deno.FsFile;
  #held = true;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /**
   * Takes the lock of a session for writing.
   *
   * @throws {RepriseError} `session_locked` naming the owner, `session_damaged` when `lock` is not a file of ours,
   * `no_such_session` if the session was removed while we waited,
   * `interrupted` when `signal` aborts, `storage_*`.
   */
  static async acquire(ports: Ports, paths: SessionPaths, options: LockOptions): Promise<SessionLock> {
    const deadline = performance.now() + options.waitMs;
    try {
      for (;;) {
        const waitMs = Math.max(0, deadline - performance.now());
        const file = await openAndTake(ports, paths, { ...options, waitMs });
        // The file may have been removed since it was opened: a lock on a file without a name excludes no writer.
        if (file !== null) return new SessionLock(file);
      }
    } catch (error) {
      if (systemCode(error) === "ENOENT") throw gone(paths);
      throw storageError(error, `lock session "${paths.id}"`, paths.lock);
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

/**
 * Reports whether a session has a writer, without writing anything: for `fsck` and `doctor`.
 *
 * @throws {RepriseError} `storage_*` if the file system refuses the lock (`EIO`, `ESTALE`, `ENOLCK`).
 */
export async function inspectLock(
  ports: Ports,
  paths: SessionPaths,
): Promise<{ readonly held: boolean; readonly owner: LockOwner | null }> {
  try {
    if (lookForFile(ports, paths.lock).status !== "ok") return { held: false, owner: null };
    const before = ownerOf(ports, paths);
    const file = Deno.openSync(paths.lock, { read: true });
    const taken = await takeLock(file, { exclusive: false, waitMs: 0 }, before);
    if (taken) file.close();
    // Read after the refusal: an earlier read may return the line of a previous holder.
    return { held: !taken, owner: taken ? null : ownerOf(ports, paths) };
  } catch (error) {
    throw storageError(error, `inspect the lock of session "${paths.id}"`, paths.lock);
  }
}

/** Returns the locked file with our identity in it; `null` if its path names another file by now. */
async function openAndTake(
  ports: Ports,
  paths: SessionPaths,
  options: LockOptions,
): Promise<Deno.FsFile | null> {
  const owner = ownerOf(ports, paths);
  const file = openLockFile(ports, paths);
  if (!(await takeLock(file, { exclusive: true, ...options }, owner))) {
    throw locked(paths, ownerOf(ports, paths));
  }
  try {
    if (namesSameFile(ports, paths, file)) {
      fixLockMode(ports, paths);
      nameOwner(ports, file, options);
      return file;
    }
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return null;
}

function openLockFile(ports: Ports, paths: SessionPaths): Deno.FsFile {
  for (;;) {
    const looked = lookForFile(ports, paths.lock);
    if (looked.status === "refused") throw sessionDamaged(paths, paths.lock, looked);
    if (looked.status === "ok") return Deno.openSync(paths.lock, { read: true, write: true });
    try {
      return Deno.openSync(paths.lock, { read: true, write: true, createNew: true, mode: FILE_MODE });
    } catch (error) {
      // Another writer created it between the inspection and the creation.
      if (!isTaken(error)) throw error;
    }
  }
}

/** Restores the mode of the lock file: the umask may have removed bits, or they were changed since. */
function fixLockMode(ports: Ports, paths: SessionPaths): void {
  const mode = ports.files.facts(paths.lock)?.mode ?? null;
  if (mode !== null && (mode & 0o777) !== FILE_MODE) ports.files.setMode(paths.lock, FILE_MODE);
}

interface TakeOptions extends LockOptions {
  readonly exclusive: boolean;
}

/** A file of runtimes since Deno 2.7, which can try a lock without waiting for it. */
interface AskableFile extends Deno.FsFile {
  tryLockSync(exclusive?: boolean): boolean;
}

function isAskable(file: Deno.FsFile): file is AskableFile {
  return "tryLockSync" in file;
}

/** Takes the lock on `file`, or closes the file and returns false. */
function takeLock(file: Deno.FsFile, options: TakeOptions, owner: LockOwner | null): Promise<boolean> {
  return isAskable(file) ? pollLock(file, options) : raceLock(file, options, owner);
}

async function pollLock(file: AskableFile, options: TakeOptions): Promise<boolean> {
  const { exclusive, signal } = options;
  const deadline = performance.now() + Math.max(options.waitMs, MOMENT_MS);
  try {
    for (;;) {
      if (file.tryLockSync(exclusive)) return true;
      if (performance.now() >= deadline) break;
      await pause(POLL_MS, signal);
    }
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return false;
}

/** `lock()` against a timer, for runtimes without `tryLock`: it cannot be cancelled, so a late lock is dropped. */
async function raceLock(file: Deno.FsFile, options: TakeOptions, owner: LockOwner | null): Promise<boolean> {
  const patience = owner === null ? NO_OWNER_MS : NAMED_OWNER_MS;
  const locking = file.lock(options.exclusive).then(() => true);
  const timer = new AbortController();
  const signal = options.signal === undefined
    ? timer.signal
    : AbortSignal.any([timer.signal, options.signal]);
  const waiting = pause(Math.max(options.waitMs, patience), signal).then(() => false);
  try {
    const taken = await Promise.race([locking, waiting]);
    if (!taken) dropLate(locking, file);
    return taken;
  } catch (error) {
    dropLate(locking, file);
    throw error;
  } finally {
    timer.abort();
    await waiting.catch(() => {});
  }
}

function dropLate(locking: Promise<boolean>, file: Deno.FsFile): void {
  locking.catch(() => {}).finally(() => file.close());
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(
        new RepriseError("interrupted", "Cannot lock the session: the waiting was interrupted", {
          hint: "Run the command again",
        }),
      );
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function namesSameFile(ports: Ports, paths: SessionPaths, file: Deno.FsFile): boolean {
  const named = ports.files.facts(paths.lock);
  if (named === null) return false;
  const held = file.statSync();
  return named.inode === null || (named.inode === held.ino && named.device === held.dev);
}

function nameOwner(ports: Ports, file: Deno.FsFile, { toFree }: LockOptions): void {
  try {
    writeOwner(ports, file);
  } catch (error) {
    if (toFree !== true || !meansFull(error)) throw error;
  }
}

function writeOwner(ports: Ports, file: Deno.FsFile): void {
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
  file.truncateSync(0);
  file.seekSync(0, Deno.SeekMode.Start);
  for (let written = 0; written < line.length;) written += file.writeSync(line.subarray(written));
}

/** The owner that the lock file names; `null` if there is none, or if its line is not written yet. */
function ownerOf(ports: Ports, paths: SessionPaths): LockOwner | null {
  const read = readSafely(ports, paths.lock, { maxBytes: MAX_OWNER_BYTES });
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

/** `no_such_session` for a directory that was removed while we waited. */
function gone(paths: SessionPaths): RepriseError {
  return new RepriseError("no_such_session", `Cannot lock session "${paths.id}": it was removed meanwhile`, {
    hint: 'List the sessions with "reprise ls"',
    details: { session: paths.id },
  });
}

/** `session_locked` (exit 5), naming the owner. */
export function locked(paths: SessionPaths, owner: LockOwner | null): RepriseError {
  const by = owner === null
    ? "another process, which has not given its name yet"
    : `process ${owner.pid} on host ${owner.host} since ${owner.since}`;
  return new RepriseError("session_locked", `Cannot write to session "${paths.id}": locked by ${by}`, {
    hint: `Wait for it with --wait SECONDS, or stop it with "reprise interrupt ${paths.id}"`,
    details: { session: paths.id, owner: owner === null ? null : { ...owner } },
  });
}

/**
 * Returns the current writer of a session, without changing anything. `owner` is `null` while a new holder has not
 * written its line yet.
 *
 * @throws {RepriseError} `no_such_session`, `session_damaged`.
 */
export function sessionOwner(
  ports: Ports,
  home: Home,
  id: SessionId,
): Promise<{ readonly held: boolean; readonly owner: LockOwner | null }> {
  const paths = sessionPaths(home.sessions, id);
  requireSession(ports, paths);
  return inspectLock(ports, paths);
}

/**
 * The number of the process that holds a session's lock, for a signal. The process that has the number now must be the
 * owner: host, PID namespace, boot and start time are compared. An older version's line has only the host: on Linux the
 * process must then have the lock file open. Systems without `/proc` know host and number only.
 *
 * @throws {RepriseError} `session_locked` if any other process may have that number.
 */
export function signalledPid(
  ports: Ports,
  { home, id, owner }: { readonly home: Home; readonly id: SessionId; readonly owner: LockOwner | null },
): number {
  const { process } = ports;
  const { lock } = sessionPaths(home.sessions, id);
  const stopIt = `Find the process that holds "${lock}" (fuser, lsof) and stop it`;
  const refused = (found: string, hint = stopIt) =>
    new RepriseError("session_locked", `Cannot interrupt session "${id}": ${found}`, { hint });
  if (owner === null) throw refused("its owner has not given its name yet", "Try again");
  const { pid, host, identity } = owner;
  if (host !== process.host) throw refused(`its owner runs on host ${host}`, INTERRUPT_THERE);
  // In a container the writer may be process 1. Elsewhere that is init, which a line without identity must never name.
  const lowest = identity === undefined ? 2 : 1;
  if (!Number.isSafeInteger(pid) || pid < lowest || pid === process.pid) {
    throw refused(`process ${pid} is no writer`);
  }
  if (identity === undefined) {
    if (Deno.build.os !== "linux" || process.hasOpen(pid, lock)) return pid;
    throw refused(`nothing shows that process ${pid} holds its lock`);
  }
  const ours = process.identityOf(process.pid);
  if (ours === null) throw refused(`nothing here shows which process ${pid} is`);
  if (identity.boot_id !== ours.boot_id) {
    throw refused("its owner runs on another machine of this name, or ran before the last boot");
  }
  if (identity.pid_namespace !== ours.pid_namespace) {
    throw refused("its owner runs in another PID namespace, such as a container", INTERRUPT_THERE);
  }
  const now = process.identityOf(pid);
  if (now === null) throw refused(`its owner, process ${pid}, has ended, but another process holds the lock`);
  if (now.start_time !== identity.start_time) {
    throw refused(`process ${pid} is not its owner: it started at another time`);
  }
  return pid;
}

const INTERRUPT_THERE = "Interrupt it there";

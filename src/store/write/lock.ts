/** Ensures one writer per session, by a lock on its file `lock`. */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { noSuchSession, sessionDamaged, storageError, systemCode } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { type SessionPaths, sessionPaths } from "../layout.ts";
import { requireSession } from "../read/session.ts";
import {
  FileLock,
  inspectFileLock,
  type LockOptions,
  type LockOwner,
  type LockState,
  ownerName,
} from "./file_lock.ts";

/**
 * Takes the lock of a session for writing.
 *
 * @throws {RepriseError} `session_locked` naming the owner, `session_damaged` when `lock` is not a file of ours,
 * `no_such_session` if the session was removed while we waited,
 * `interrupted` when `signal` aborts, `storage_*`.
 */
export async function lockSession(
  ports: Ports,
  paths: SessionPaths,
  options: LockOptions = {},
): Promise<FileLock> {
  try {
    return await FileLock.acquire(ports, paths.lock, {
      ...options,
      unusable: (found) => sessionDamaged(paths, paths.lock, found),
      held: (owner) => lockedError(paths, owner),
    });
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      const { id } = paths;
      throw noSuchSession(id, { tried: `lock session "${id}"`, found: "it was removed meanwhile" });
    }
    throw storageError(error, `lock session "${paths.id}"`, paths.lock);
  }
}

/**
 * Reports whether a session has a writer, without writing anything: for `fsck` and `doctor`.
 *
 * @throws {RepriseError} `storage_*` if the file system refuses the lock (`EIO`, `ESTALE`, `ENOLCK`).
 */
export async function inspectLock(ports: Ports, paths: SessionPaths): Promise<LockState> {
  try {
    return await inspectFileLock(ports, paths.lock);
  } catch (error) {
    throw storageError(error, `inspect the lock of session "${paths.id}"`, paths.lock);
  }
}

/** `session_locked` (exit 5), naming the owner. */
export function lockedError({ id }: SessionPaths, owner: LockOwner | null): RepriseError {
  return new RepriseError(
    "session_locked",
    `Cannot write to session "${id}": locked by ${ownerName(owner)}`,
    {
      hint: `Wait for it with --wait SECONDS, or stop it with "reprise interrupt ${id}"`,
      details: { session: id, owner: owner === null ? null : { ...owner } },
    },
  );
}

/**
 * Returns the current writer of a session, without changing anything. `owner` is `null` while a new holder has not
 * written its line yet.
 *
 * @throws {RepriseError} `no_such_session`, `session_damaged`.
 */
export function sessionOwner(ports: Ports, home: Home, id: SessionId): Promise<LockState> {
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

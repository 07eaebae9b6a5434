/**
 * Removing a session's directory so that an interruption leaves nothing half removed in view: it gets a hidden name
 * first, and only then its files go. If it cannot be renamed, an interruption leaves a session that readers refuse.
 *
 * @module
 */
import type { SessionId } from "../../domain/ids.ts";
import type { Files, Ports } from "../../domain/ports.ts";
import { isTaken, meansFull, orStorageError, systemCode } from "../fs_errors.ts";
import { requireSession } from "../read/history.ts";
import type { Home } from "../home.ts";
import { sessionPaths, turnNumberOf } from "../layout.ts";
import { SessionLock } from "../write/lock.ts";
import { orSyncFailed } from "../write/publish.ts";

const NAME_TRIES = 16;

/** A path beside the sessions that nothing has yet: `.new-…` for what is made, `.removed-…` for what goes. */
export function hiddenPath(ports: Ports, home: Home, what: "new" | "removed"): string {
  for (let attempt = 1;; attempt++) {
    const random = Math.floor(ports.random() * 2 ** 48).toString(16).padStart(12, "0");
    const path = `${home.sessions}/.${what}-${ports.process.pid}-${random}`;
    if (ports.files.facts(path) === null) return path;
    if (attempt === NAME_TRIES) {
      throw Object.assign(new Error(`No free name beside ${path}`), { code: "EEXIST" });
    }
  }
}

/**
 * Deletes a session, whatever state it is in. Its forks keep what they share with it.
 *
 * @throws {RepriseError} `no_such_session`, `session_locked`, `session_damaged` when its directory is none of ours,
 * `storage_*`; then `gc` finishes what was begun.
 */
export async function removeSession(ports: Ports, home: Home, id: SessionId): Promise<void> {
  const paths = sessionPaths(home.sessions, id);
  const tried = `remove session "${id}"`;
  orStorageError(tried, paths.root, () => requireSession(ports, paths));
  const lock = await SessionLock.acquire(ports, paths, { waitMs: 0, toFree: true });
  try {
    orStorageError(tried, paths.root, () => removeDirectory(ports, home, { path: paths.root, lock }));
  } finally {
    lock.release();
  }
}

/**
 * Removes a directory with everything in it, under its `lock`. Links are removed, never followed. Throws the
 * runtime's errors; what is left then has a hidden name, and the next try goes on with it.
 */
export function removeDirectory(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: SessionLock },
): void {
  const hidden = hiddenPath(ports, home, "removed");
  try {
    ports.files.rename(path, hidden);
  } catch (error) {
    // An overlay may not rename a directory of its lower layer, and a new name may need room.
    if (systemCode(error) !== "EXDEV" && !meansFull(error)) throw error;
    removeEnds(ports, `${path}/turns`);
    return emptyDirectory(ports, home, { path, lock });
  }
  orSyncFailed(() => ports.files.syncDirectory(home.sessions));
  emptyDirectory(ports, home, { path: hidden, lock });
}

/**
 * Removes the first and the newest turn, durably. A reader then misses one of them, with a manifest or without, and
 * refuses the session as damaged.
 */
function removeEnds({ files }: Ports, turns: string): void {
  if (files.facts(turns)?.kind !== "directory") return;
  const numbered = files.list(turns).filter((name) => turnNumberOf(name) !== null)
    .sort((a, b) => (turnNumberOf(a) ?? 0) - (turnNumberOf(b) ?? 0));
  for (const name of new Set([...numbered.slice(0, 1), ...numbered.slice(-1)])) {
    removeTree(files, `${turns}/${name}`);
  }
  orSyncFailed(() => files.syncDirectory(turns));
}

/** Removes a directory that has a hidden name already. The lock's file goes last: it keeps others out until then. */
export function emptyDirectory(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: SessionLock | null },
): void {
  for (const name of ports.files.list(path)) {
    if (name !== "lock") removeTree(ports.files, `${path}/${name}`);
  }
  const last = `${path}/lock`;
  if (ports.files.facts(last) !== null) removeTree(ports.files, last);
  ports.files.unlink(path);
  lock?.release();
  orSyncFailed(() => ports.files.syncDirectory(home.sessions));
}

function removeTree(files: Files, path: string): void {
  if (files.facts(path)?.kind === "directory") {
    for (const name of files.list(path)) removeTree(files, `${path}/${name}`);
  }
  files.unlink(path);
}

/** True for the error of a rename whose target is there already. */
export function isOccupied(error: unknown): boolean {
  return isTaken(error) ||
    error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "ENOTDIR");
}

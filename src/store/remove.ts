/**
 * Removing a session's directory so that an interruption leaves nothing half removed in view: it gets a hidden name
 * first, and only then its files go.
 *
 * @module
 */
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { isTaken, orStorageError } from "./fs_errors.ts";
import { requireSession } from "./history.ts";
import type { Home } from "./home.ts";
import { sessionPaths } from "./layout.ts";
import { SessionLock } from "./lock.ts";
import { orSyncFailed } from "./publish.ts";

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
 * @throws {ReprError} `no_such_session`, `session_locked`, `session_damaged` when its directory is none of ours,
 * `storage_*`; then `gc` finishes what was begun.
 */
export async function removeSession(ports: Ports, home: Home, id: SessionId): Promise<void> {
  const paths = sessionPaths(home.sessions, id);
  const tried = `remove session "${id}"`;
  orStorageError(tried, paths.root, () => requireSession(ports, paths));
  const lock = await SessionLock.acquire(ports, paths, { waitMs: 0 });
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
  ports.files.rename(path, hidden);
  orSyncFailed(() => ports.files.syncDirectory(home.sessions));
  emptyDirectory(ports, home, { path: hidden, lock });
}

/** Removes a directory that has a hidden name already. The lock's file goes last: it keeps others out until then. */
export function emptyDirectory(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: SessionLock | null },
): void {
  for (const name of ports.files.list(path)) {
    if (name !== "lock") removeTree(ports, `${path}/${name}`);
  }
  const last = `${path}/lock`;
  if (ports.files.facts(last) !== null) removeTree(ports, last);
  ports.files.unlink(path);
  lock?.release();
  orSyncFailed(() => ports.files.syncDirectory(home.sessions));
}

function removeTree(ports: Ports, path: string): void {
  if (ports.files.facts(path)?.kind === "directory") {
    for (const name of ports.files.list(path)) removeTree(ports, `${path}/${name}`);
  }
  ports.files.unlink(path);
}

/** True for the error of a rename whose target is there already. */
export function isOccupied(error: unknown): boolean {
  return isTaken(error) ||
    error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "ENOTDIR");
}

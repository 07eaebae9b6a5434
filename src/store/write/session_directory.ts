/**
 * The directories of a session: created with durable names before turn 1 is written, and held open to notice when they are
 * moved or replaced.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { type Home, syncForeignDirectory } from "../home.ts";
import { parentOf, type SessionPaths, turnNumbers } from "../layout.ts";
import { hasDirectory, isLeftover, lookForDirectory } from "../read/safe_open.ts";
import type { FileLock } from "./file_lock.ts";
import { ensureDirectory, orSyncFailed } from "./publish.ts";

/**
 * Refuses to start a session that has a turn.
 *
 * @throws {RepriseError} `session_exists`, `session_damaged` if its directories are not ours; the runtime's errors.
 */
export function requireUnused(ports: Ports, paths: SessionPaths): void {
  if (!hasDirectory(ports, paths, paths.root) || !hasDirectory(ports, paths, paths.turns)) return;
  const count = turnNumbers(ports.files.list(paths.turns)).length;
  if (count === 0) return;
  throw new RepriseError(
    "session_exists",
    `Cannot create session "${paths.id}": "${paths.root}" holds ${counted(count, "turn")} already`,
    { hint: `Continue it with "reprise run -s ${paths.id}", or choose another id` },
  );
}

/** Creates the session's directory, for its lock file. Nothing is durable yet. */
export function makeSessionDirectory(ports: Ports, home: Home, paths: SessionPaths): void {
  ensureDirectory(ports.files, home.sessions);
  ensureDirectory(ports.files, paths.root);
}

/**
 * Creates the directories inside, then makes the whole path to them durable. Existing directories are synced too: a
 * killed creation may have left them without an fsync.
 */
export function prepareSession(ports: Ports, home: Home, paths: SessionPaths): void {
  ensureDirectory(ports.files, paths.turns);
  ensureDirectory(ports.files, paths.blobs);
  for (const directory of [paths.blobs, paths.turns, paths.root, home.sessions, home.path]) {
    orSyncFailed(() => ports.files.syncDirectory(directory));
  }
  orSyncFailed(() => syncForeignDirectory(ports, parentOf(home.path)));
}

/** Removes the temporary files of killed writers. Only the holder of the lock may. */
export function sweep(ports: Ports, paths: SessionPaths): void {
  for (const name of ports.files.list(paths.root)) {
    const path = `${paths.root}/${name}`;
    if (isLeftover(ports, path)) ports.files.unlink(path);
  }
}

/** A session's directories and lock while a writer holds them: notices when the session is moved or replaced. */
export class HeldSession {
  readonly #lock: FileLock;
  /** `turns/` as it was opened. */
  readonly #turns: HeldDirectory;
  /** `blobs/` as it was opened: turns name its files. */
  readonly #blobs: HeldDirectory;

  /** Opens the directories; the caller releases `lock` if that fails. Throws the runtime's errors. */
  constructor(ports: Ports, paths: SessionPaths, lock: FileLock) {
    this.#lock = lock;
    this.#turns = holdDirectory(ports, paths.turns);
    try {
      this.#blobs = holdDirectory(ports, paths.blobs);
    } catch (error) {
      this.#turns.close();
      throw error;
    }
  }

  /** Names the directory that was moved or replaced since it was opened. Throws the runtime's errors. */
  moved(): "directory" | "blobs/" | null {
    if (!this.#turns.isInPlace()) return "directory";
    return this.#blobs.isInPlace() ? null : "blobs/";
  }

  close(): void {
    this.#turns.close();
    this.#blobs.close();
    this.#lock.release();
  }
}

interface HeldDirectory {
  /** True while the path names the same directory. Throws the runtime's errors. */
  isInPlace(): boolean;
  close(): void;
}

/** Keeps a directory open, because file systems reuse the inode number of a removed directory. */
function holdDirectory(ports: Ports, path: string): HeldDirectory {
  const looked = lookForDirectory(ports, path);
  const handle = looked.status === "ok" ? ports.files.holdDirectory(path) : null;
  return {
    isInPlace() {
      // The code that needs the directory reports one that is not ours.
      if (looked.status === "refused") return true;
      const now = ports.files.facts(path);
      if (now === null || looked.status === "missing") return now === null && looked.status === "missing";
      return now.inode === looked.facts.inode && now.device === looked.facts.device;
    },
    close: () => handle?.close(),
  };
}

/** The error of a session whose directory, or its `blobs/`, was moved or replaced while a writer had it open. */
export function displacedError(
  { id, path }: { readonly id: string; readonly path: string },
  tried: string,
  what: "directory" | "blobs/",
): RepriseError {
  return new RepriseError(
    "session_diverged",
    `Cannot ${tried}: its ${what} was moved or replaced while it was open; nothing was written to the one that has its name now`,
    {
      hint: what === "blobs/"
        ? "Move it back: the turns that were saved name blobs in it"
        : `Move the session back, or look at the one that has its name with "reprise show ${id}"`,
      details: { session: id, path },
    },
  );
}

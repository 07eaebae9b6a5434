/**
 * Directories under hidden names: a session that is being created gets its name once it is whole, and a session that is
 * being removed loses its name first. A kill at any point leaves no partial session visible; `rm --unused` removes leftovers.
 * If a directory cannot be renamed, an interrupted removal leaves a session that readers refuse.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { encodeManifest, type Manifest } from "../../domain/manifest.ts";
import type { Files, Ports } from "../../domain/ports.ts";
import { turnFileName } from "../../domain/turn.ts";
import { type Home, syncForeignDirectory } from "../home.ts";
import { measureBytes, parentOf, pathsAt, type SessionPaths, sessionPaths, turnNumbers } from "../layout.ts";
import type { FileLock } from "../write/file_lock.ts";
import { lockSession } from "../write/lock.ts";
import { ensureDirectory, fillFile, NewFile, orSyncFailed, syncFiles } from "../write/publish.ts";
import { isDiskFull, systemCode } from "../fs_errors.ts";

/** A session's directory before it has its name. All its methods throw the runtime's errors. */
export class Staging {
  /** Paths under the hidden name. */
  readonly paths: SessionPaths;
  readonly #ports: Ports;
  readonly #home: Home;
  readonly #lock: FileLock;
  /** Files whose content may not be durable. */
  readonly #unsynced: string[] = [];

  private constructor(ports: Ports, home: Home, made: { paths: SessionPaths; lock: FileLock }) {
    this.#ports = ports;
    this.#home = home;
    this.paths = made.paths;
    this.#lock = made.lock;
  }

  /**
   * Creates the directories and takes the lock.
   *
   * @throws {RepriseError} `session_exists` if the name is taken.
   */
  static async open(ports: Ports, home: Home, id: SessionId): Promise<Staging> {
    requireFree(ports, home, id);
    const paths = pathsAt(hiddenPath(ports, home, "new"), id);
    ensureDirectory(ports.files, home.sessions);
    let lock: FileLock | null = null;
    try {
      ensureDirectory(ports.files, paths.root);
      lock = await lockSession(ports, paths);
      ensureDirectory(ports.files, paths.turns);
      ensureDirectory(ports.files, paths.blobs);
      return new Staging(ports, home, { paths, lock });
    } catch (error) {
      discardStaged(ports, home, { path: paths.root, lock });
      throw error;
    }
  }

  /** Creates a file at `path`, in the staged directory, to be filled by chunks. It is durable after {@linkcode publish}. */
  newFile(path: string): NewFile {
    this.#unsynced.push(path);
    return new NewFile(this.#ports, path, { sync: false });
  }

  /** Writes a whole file as {@linkcode newFile} does. */
  write(path: string, bytes: Uint8Array): void {
    fillFile(this.newFile(path), [bytes]);
  }

  /** Writes the manifest, makes every file and name durable, and gives the session its name. Returns its directory. */
  async publish(manifest: Manifest): Promise<string> {
    const { files } = this.#ports;
    const { paths } = this;
    const bytes = measureBytes(this.#ports, paths);
    this.write(paths.manifest, encodeManifest({ ...manifest, bytes }).bytes);
    // Nobody sees the files before the rename, so all are synced at once: an fsync for each turn takes minutes for many.
    await syncFiles(this.#ports, this.#unsynced);
    for (const directory of [paths.blobs, paths.turns, paths.root]) {
      orSyncFailed(() => files.syncDirectory(directory));
    }
    requireFree(this.#ports, this.#home, paths.id);
    const { root } = sessionPaths(this.#home.sessions, paths.id);
    try {
      files.rename(paths.root, root);
    } catch (error) {
      throw OCCUPIED.has(systemCode(error) ?? "") ? taken(this.#home, paths.id) : error;
    }
    for (const directory of [this.#home.sessions, this.#home.path]) {
      orSyncFailed(() => files.syncDirectory(directory));
    }
    orSyncFailed(() => syncForeignDirectory(this.#ports, parentOf(this.#home.path)));
    this.#lock.release();
    return root;
  }

  /** Removes everything that was created. A failure is ignored: `rm --unused` tries again, and the earlier error is reported. */
  discard(): void {
    discardStaged(this.#ports, this.#home, { path: this.paths.root, lock: this.#lock });
  }
}

function discardStaged(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: FileLock | null },
): void {
  try {
    // After publishing, the hidden name is gone.
    if (ports.files.facts(path) !== null) emptyDirectory(ports, home, { path, lock });
  } catch {
    // Only gc sees hidden names.
  } finally {
    lock?.release();
  }
}

function requireFree(ports: Ports, home: Home, id: SessionId): void {
  if (ports.files.facts(sessionPaths(home.sessions, id).root) !== null) throw taken(home, id);
}

function taken(home: Home, id: SessionId): RepriseError {
  const { root } = sessionPaths(home.sessions, id);
  return new RepriseError("session_exists", `Cannot create session "${id}": "${root}" is there already`, {
    hint: `See it with "reprise show ${id}"; a session is never overwritten`,
    details: { session: id, path: root },
  });
}

/** Errors of a rename whose target exists. */
const OCCUPIED: ReadonlySet<string> = new Set(["EEXIST", "ENOTEMPTY", "ENOTDIR"]);

const NAME_TRIES = 16;

/** Returns a free path beside the sessions: `.new-…` for a creation, `.removed-…` for a removal. */
function hiddenPath(ports: Ports, home: Home, what: "new" | "removed"): string {
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
 * Removes a directory with everything in it, under its `lock`. Links are removed, never followed. Throws the
 * runtime's errors; the rest then has a hidden name, and the next try continues with it.
 */
export function removeDirectory(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: FileLock },
): void {
  const hidden = hiddenPath(ports, home, "removed");
  try {
    ports.files.rename(path, hidden);
  } catch (error) {
    // An overlay cannot rename a directory of its lower layer, and a new name may need space.
    if (systemCode(error) !== "EXDEV" && !isDiskFull(error)) throw error;
    removeEnds(ports, `${path}/turns`);
    return emptyDirectory(ports, home, { path, lock });
  }
  orSyncFailed(() => ports.files.syncDirectory(home.sessions));
  emptyDirectory(ports, home, { path: hidden, lock });
}

/**
 * Removes the first and the newest turn, durably. With or without a manifest, a reader then finds one missing and
 * refuses the session as damaged.
 */
function removeEnds({ files }: Ports, turns: string): void {
  if (files.facts(turns)?.kind !== "directory") return;
  const numbers = turnNumbers(files.list(turns));
  for (const number of new Set([...numbers.slice(0, 1), ...numbers.slice(-1)])) {
    removeTree(files, `${turns}/${turnFileName(number)}`);
  }
  orSyncFailed(() => files.syncDirectory(turns));
}

/** Removes a directory with a hidden name. The lock file goes last: it excludes other processes until then. */
export function emptyDirectory(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: FileLock | null },
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

/**
 * A session that is made out of sight, under its own lock, and gets its name when it is whole: a kill at any point
 * leaves no half session in view, and what it leaves `gc` removes.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { encodeManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { NewFile, writeNew } from "../chunks.ts";
import { type Home, parentOf, syncForeignDirectory } from "../home.ts";
import { pathsAt, type SessionPaths, sessionPaths } from "../layout.ts";
import { SessionLock } from "../write/lock.ts";
import { ensureDirectory, orSyncFailed } from "../write/publish.ts";
import { emptyDirectory, hiddenPath, isOccupied } from "./remove.ts";

/** A session's directory before it has its name. All its methods throw the runtime's errors. */
export class Staging {
  /** Where everything lies for now. */
  readonly paths: SessionPaths;
  readonly #ports: Ports;
  readonly #home: Home;
  readonly #lock: SessionLock;

  private constructor(ports: Ports, home: Home, made: { paths: SessionPaths; lock: SessionLock }) {
    this.#ports = ports;
    this.#home = home;
    this.paths = made.paths;
    this.#lock = made.lock;
  }

  /**
   * Makes the directories and takes the lock.
   *
   * @throws {RepriseError} `session_exists` when the name is taken.
   */
  static async open(ports: Ports, home: Home, id: SessionId): Promise<Staging> {
    requireFree(ports, home, id);
    const paths = pathsAt(hiddenPath(ports, home, "new"), id);
    ensureDirectory(ports.files, home.sessions);
    let lock: SessionLock | null = null;
    try {
      ensureDirectory(ports.files, paths.root);
      lock = await SessionLock.acquire(ports, paths, { waitMs: 0 });
      ensureDirectory(ports.files, paths.turns);
      ensureDirectory(ports.files, paths.blobs);
      return new Staging(ports, home, { paths, lock });
    } catch (error) {
      discardStaged(ports, home, { path: paths.root, lock });
      throw error;
    }
  }

  /** A new file at `path`, which lies in the staged directory, to be filled by chunks. */
  newFile(path: string): NewFile {
    return new NewFile(this.#ports, path);
  }

  /** Writes the manifest, makes every name durable, and gives the session its name. Returns its directory. */
  publish(manifest: Manifest): string {
    const { files } = this.#ports;
    const { paths } = this;
    writeNew(this.#ports, paths.manifest, [encodeManifest(manifest).bytes]);
    for (const directory of [paths.blobs, paths.turns, paths.root]) {
      orSyncFailed(() => files.syncDirectory(directory));
    }
    requireFree(this.#ports, this.#home, paths.id);
    const { root } = sessionPaths(this.#home.sessions, paths.id);
    try {
      files.rename(paths.root, root);
    } catch (error) {
      throw isOccupied(error) ? taken(this.#home, paths.id) : error;
    }
    for (const directory of [this.#home.sessions, this.#home.path]) {
      orSyncFailed(() => files.syncDirectory(directory));
    }
    orSyncFailed(() => syncForeignDirectory(this.#ports, parentOf(this.#home.path)));
    this.#lock.release();
    return root;
  }

  /** Removes everything that was made. A failure leaves it to `gc`: what went wrong before is what counts. */
  discard(): void {
    discardStaged(this.#ports, this.#home, { path: this.paths.root, lock: this.#lock });
  }
}

function discardStaged(
  ports: Ports,
  home: Home,
  { path, lock }: { readonly path: string; readonly lock: SessionLock | null },
): void {
  try {
    // Once it has its name, nothing is here any more.
    if (ports.files.facts(path) !== null) emptyDirectory(ports, home, { path, lock });
  } catch {
    // Hidden from everybody but gc.
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

/**
 * The directories of a session: created with durable names before turn 1 is written, and held open to notice when they are
 * moved or replaced.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { FileFacts, Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { sessionDamaged } from "../fs_errors.ts";
import { type Home, parentOf, syncForeignDirectory } from "../home.ts";
import { type SessionPaths, turnNumberOf } from "../layout.ts";
import { isLeftover, lookForDirectory } from "../read/safe_open.ts";
import { ensureDirectory, orSyncFailed } from "./publish.ts";

/**
 * Refuses to start a session that has a turn.
 *
 * @throws {RepriseError} `session_exists`, `session_damaged` if its directories are not ours; the runtime's errors.
 */
export function requireUnused(ports: Ports, paths: SessionPaths): void {
  const root = lookForDirectory(ports, paths.root);
  if (root.status === "missing") return;
  if (root.status === "refused") throw sessionDamaged(paths, paths.root, root);
  const turns = lookForDirectory(ports, paths.turns);
  if (turns.status === "missing") return;
  if (turns.status === "refused") throw sessionDamaged(paths, paths.turns, turns);
  const count = ports.files.list(paths.turns).filter((name) => turnNumberOf(name) !== null).length;
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

/** Creates `blobs/` if it is missing: the next blob needs it. */
export function makeMissingBlobs(ports: Ports, paths: SessionPaths): void {
  if (ports.files.facts(paths.blobs) !== null) return;
  if (ensureDirectory(ports.files, paths.blobs)) orSyncFailed(() => ports.files.syncDirectory(paths.root));
}

/** Removes the temporary files of killed writers. Only the holder of the lock may. */
export function sweep(ports: Ports, paths: SessionPaths): void {
  for (const name of ports.files.list(paths.root)) {
    const path = `${paths.root}/${name}`;
    if (isLeftover(ports, path)) ports.files.unlink(path);
  }
}

/**
 * An opened directory, to notice when its path names another directory. It stays open, because file systems reuse the
 * inode number of a removed directory.
 */
export class HeldDirectory {
  readonly #ports: Ports;
  readonly #path: string;
  /** `null` if the path did not exist. */
  readonly #facts: FileFacts | null;
  /** False if the path is not a directory of ours: the code that needs the directory reports that. */
  readonly #isKnown: boolean;
  readonly #handle: { close(): void } | null;

  /** Opens `path` if that is a directory of ours. Throws the runtime's errors. */
  constructor(ports: Ports, path: string) {
    this.#ports = ports;
    this.#path = path;
    const looked = lookForDirectory(ports, path);
    this.#handle = looked.status === "ok" ? ports.files.holdDirectory(path) : null;
    this.#facts = looked.status === "ok" ? looked.facts : null;
    this.#isKnown = looked.status !== "refused";
  }

  /** True while the path names the same directory. Throws the runtime's errors. */
  isInPlace(): boolean {
    if (!this.#isKnown) return true;
    const now = this.#ports.files.facts(this.#path);
    if (now === null || this.#facts === null) return now === this.#facts;
    return now.inode === this.#facts.inode && now.device === this.#facts.device;
  }

  close(): void {
    this.#handle?.close();
  }
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

/**
 * `quarantine/`: what was replaced or came too late. Nothing of ours is ever deleted from it.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { type Turn, turnFileName } from "../../domain/turn.ts";
import { meansNoLinks } from "../fs_errors.ts";
import type { SessionPaths } from "../layout.ts";
import { claimName, ensureDirectory, orSyncFailed } from "./publish.ts";
import { lookForDirectory } from "../read/safe_open.ts";

/** Puts a written turn whose number was taken into `quarantine/`, durably. Returns its path inside the session. */
export function quarantineTurn(
  ports: Ports,
  paths: SessionPaths,
  late: { readonly turn: Turn; readonly temporary: string },
): string {
  openQuarantine(ports, paths);
  const name = `${turnFileName(late.turn.turn)}.diverged-${late.turn.sum.slice(0, 16)}`;
  claimName(ports, late.temporary, { path: `${paths.quarantine}/${name}`, directory: paths.quarantine });
  return `quarantine/${name}`;
}

/** Makes the directory where there is none, with a durable name. */
export function openQuarantine(ports: Ports, paths: SessionPaths): void {
  if (ensureDirectory(ports.files, paths.quarantine)) {
    orSyncFailed(() => ports.files.syncDirectory(paths.root));
  }
}

/** Longest part of a file's own name that its name in quarantine keeps, in UTF-16 units. */
const MAX_KEPT_NAME = 60;

/** Chooses names in `quarantine/`: `<name>.repair-<n>`, the first n from 1 that is free. */
export class QuarantineNames {
  readonly #ports: Ports;
  readonly #paths: SessionPaths;
  readonly #taken: Set<string>;

  /** Reads the names that are taken. Throws the runtime's errors. */
  constructor(ports: Ports, paths: SessionPaths) {
    this.#ports = ports;
    this.#paths = paths;
    const there = lookForDirectory(ports, paths.quarantine).status === "ok";
    this.#taken = new Set(there ? ports.files.list(paths.quarantine) : []);
  }

  /**
   * The full path to keep `path` under; it is taken from here on. One that names the very same file, left by a
   * repair that was killed, is used again.
   */
  choose(path: string): string {
    const name = path.slice(path.lastIndexOf("/") + 1).slice(0, MAX_KEPT_NAME);
    for (let number = 1;; number++) {
      const kept = `${name}.repair-${number}`;
      const full = `${this.#paths.quarantine}/${kept}`;
      if (this.#taken.has(kept) && !isSameFile(this.#ports, path, full)) continue;
      this.#taken.add(kept);
      return full;
    }
  }
}

function isSameFile({ files }: Ports, a: string, b: string): boolean {
  const [one, other] = [files.facts(a), files.facts(b)];
  return one !== null && other !== null && one.inode !== null && one.inode === other.inode &&
    one.device === other.device;
}

/**
 * Gives what lies at `path` a second name in `quarantine/`, or moves it there where it can have only one: a
 * directory, or a file system without links. Not durable yet.
 */
export function keepAs(ports: Ports, path: string, kept: string): void {
  if (isSameFile(ports, path, kept)) return;
  try {
    ports.files.link(path, kept);
  } catch (error) {
    if (!meansNoLinks(error)) throw error;
    ports.files.rename(path, kept);
  }
}

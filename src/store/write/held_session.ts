/**
 * A session's directories and lock while a writer holds them.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import type { SessionPaths } from "../layout.ts";
import type { SessionLock } from "./lock.ts";
import { HeldDirectory } from "./session_directory.ts";

/** Notices when the session is moved or replaced. */
export class HeldSession {
  readonly #lock: SessionLock;
  /** `turns/` as it was opened. */
  readonly #turns: HeldDirectory;
  /** `blobs/` as it was opened: turns name its files. */
  readonly #blobs: HeldDirectory;

  /** Opens the directories; the caller releases `lock` if that fails. Throws the runtime's errors. */
  constructor(ports: Ports, paths: SessionPaths, lock: SessionLock) {
    this.#lock = lock;
    this.#turns = new HeldDirectory(ports, paths.turns);
    try {
      this.#blobs = new HeldDirectory(ports, paths.blobs);
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

  /** True while the session's path names the directory that was opened. Throws the runtime's errors. */
  isInPlace(): boolean {
    return this.#turns.isInPlace();
  }

  /** Releases the session. */
  close(): void {
    this.#turns.close();
    this.#blobs.close();
    this.#lock.release();
  }
}

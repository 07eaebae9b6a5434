import type { FileFacts, Ports } from "../../domain/ports.ts";
import { lookForDirectory } from "../read/safe_open.ts";

/**
 * A directory that was opened, to distinguish it from another one that has its path now. It stays open: file systems
 * reuse the inode number of a removed directory for the next one.
 */
export class HeldDirectory {
  readonly #ports: Ports;
  readonly #path: string;
  /** `null` if nothing was there. */
  readonly #facts: FileFacts | null;
  /** False for something that is no directory of ours: whoever needs the directory reports that. */
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

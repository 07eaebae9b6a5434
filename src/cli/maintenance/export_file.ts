import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { unlinkQuietly, writeChunks } from "../../store/write/publish.ts";
import { fileError } from "../../store/fs_errors.ts";
import { parentOf, syncForeignDirectory } from "../../store/home.ts";

/** A file that takes the place of an older one when it is whole, readable for its owner alone. */
export class ExportFile {
  readonly #ports: Ports;
  readonly #path: string;

  /** @throws {RepriseError} `usage` when something else than a file is at `path`. */
  constructor(ports: Ports, path: string) {
    this.#ports = ports;
    this.#path = path;
    const kind = ports.files.facts(path)?.kind ?? "file";
    if (kind === "file") return;
    throw new RepriseError(
      "usage",
      `Cannot export to ${JSON.stringify(path)}: it is there, and is no regular file`,
      {
        hint: "Name another file, or leave it out to get the export on stdout",
      },
    );
  }

  /**
   * Writes all of `chunks`, durably, and returns how many bytes that were. What goes wrong leaves an older file as it
   * was.
   *
   * @throws {RepriseError} `storage_*`, and what `chunks` throws.
   */
  write(chunks: Iterable<Uint8Array>): number {
    const random = Math.floor(this.#ports.random() * 2 ** 48).toString(16);
    const temporary = `${this.#path}.part-${this.#ports.process.pid}-${random}`;
    let bytes = 0;
    const counted = function* () {
      for (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    try {
      writeChunks(this.#ports, temporary, counted());
      this.#ports.files.rename(temporary, this.#path);
      // The session may be removed next, on another disk.
      syncForeignDirectory(this.#ports, parentOf(this.#path));
    } catch (error) {
      unlinkQuietly(this.#ports.files, temporary);
      throw fileError(error, "write the export", this.#path);
    }
    return bytes;
  }
}

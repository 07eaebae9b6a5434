/** Files that a verb writes for the user: an export, a page. */
import { RepriseError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import { fileError, isTaken, orFileError } from "../store/fs_errors.ts";
import { syncForeignDirectory } from "../store/home.ts";
import { parentOf } from "../store/layout.ts";
import { takeName, unlinkQuietly, writeChunks } from "../store/write/publish.ts";
import { requireDirectoryOf } from "./settings.ts";

export interface OutputFileOptions {
  /** Content of the file, for messages: `the export`. */
  readonly what: string;
  readonly force: boolean;
}

/** A file that appears when it is complete, readable only for its owner. */
export class OutputFile {
  readonly #ports: Ports;
  readonly #path: string;
  readonly #options: OutputFileOptions;

  /**
   * @throws {RepriseError} `usage` if its directory is missing, if something other than a file is at `path`, and for an
   * existing file without `force`.
   */
  constructor(ports: Ports, path: string, options: OutputFileOptions) {
    this.#ports = ports;
    this.#path = path;
    this.#options = options;
    requireDirectoryOf(path, `write ${options.what} to ${JSON.stringify(path)}`);
    const kind = orFileError(`write ${options.what}`, path, () => ports.files.facts(path)?.kind);
    if (kind === "file" && !options.force) throw this.#exists();
    if (kind === undefined || kind === "file") return;
    throw this.#refused("it is not a regular file", "Name another file, or - for stdout");
  }

  /**
   * Writes all of `chunks` durably and returns the number of bytes. An error leaves an older file unchanged.
   *
   * @throws {RepriseError} `usage` if a file came to be at the path meanwhile, `storage_*`, and errors of `chunks`.
   */
  write(chunks: Iterable<Uint8Array>): number {
    const { files, process, random } = this.#ports;
    const temporary = `${this.#path}.part-${process.pid}-${Math.floor(random() * 2 ** 48).toString(16)}`;
    let bytes = 0;
    const counted = function* () {
      for (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    try {
      writeChunks(this.#ports, temporary, counted());
      if (this.#options.force) files.rename(temporary, this.#path);
      else takeName(files, temporary, this.#path);
      // The user may remove the session next, from another disk.
      syncForeignDirectory(this.#ports, parentOf(this.#path));
    } catch (error) {
      unlinkQuietly(files, temporary);
      throw isTaken(error) ? this.#exists() : fileError(error, `write ${this.#options.what}`, this.#path);
    }
    return bytes;
  }

  #exists(): RepriseError {
    return this.#refused("the file exists", "Add --force to replace it");
  }

  #refused(why: string, hint: string): RepriseError {
    const message = `Cannot write ${this.#options.what} to ${JSON.stringify(this.#path)}: ${why}`;
    return new RepriseError("usage", message, { hint });
  }
}

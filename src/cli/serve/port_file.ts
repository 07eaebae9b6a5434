/**
 * Where a script that starts a server finds out its port.
 *
 * @module
 */
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { FileFacts, Files, Ports } from "../../domain/ports.ts";
import { writeNewFile } from "../../fixture/seal.ts";
import { orFileError } from "../../store/fs_errors.ts";
import { unlinkQuietly } from "../../store/write/publish.ts";
import { absolute } from "../settings.ts";

/** What a server that was killed leaves there; a script may also have created the file, empty. */
const LEFT_BY_SERVER = /^(\d{1,5}\n)?$/;
/** `65535` with its line end. */
const MAX_BYTES = 6;

/** A file with the port of a server, in one line. */
export class PortFile {
  readonly #files: Files;
  readonly #path: string;

  /** @throws {RepriseError} `usage` if anything but an empty file or an older port file is at `path`; `storage_…`. */
  constructor(ports: Ports, path: string) {
    this.#files = ports.files;
    this.#path = absolute(ports, path);
    this.#requireReplaceable();
  }

  /**
   * Writes the file: it is there whole or not at all. Disposing removes it, because nobody listens there any more,
   * unless another file has its name by then.
   *
   * @throws {RepriseError} `usage`, as the constructor; `storage_…`.
   */
  write(port: number): Disposable {
    const [files, path] = [this.#files, this.#path];
    this.#requireReplaceable();
    const temporary = `${path}.part-${crypto.randomUUID()}`;
    const written = orFileError("write the port file", path, () => {
      try {
        writeNewFile(files, temporary, `${port}\n`);
        const facts = files.facts(temporary);
        files.rename(temporary, path);
        return facts;
      } catch (error) {
        unlinkQuietly(files, temporary);
        throw error;
      }
    });
    return {
      [Symbol.dispose]() {
        try {
          if (isSame(written, files.facts(path))) files.unlink(path);
        } catch {
          // A server that cannot remove it has done what it was asked to do.
        }
      },
    };
  }

  #requireReplaceable(): void {
    const [files, path] = [this.#files, this.#path];
    orFileError("write the port file", path, () => {
      const facts = files.facts(path);
      if (facts === null) return;
      const isOurs = facts.kind === "file" && facts.size <= MAX_BYTES &&
        LEFT_BY_SERVER.test(decodeUtf8Leniently(files.read(path)));
      if (isOurs) return;
      const found = facts.kind === "file" ? "it holds something else than a port" : "it is no regular file";
      throw new RepriseError("usage", `Cannot write the port to ${JSON.stringify(path)}: ${found}`, {
        hint: "Name a new file: it is replaced, and removed when the server ends",
      });
    });
  }
}

function isSame(written: FileFacts | null, now: FileFacts | null): boolean {
  return written !== null && now !== null && written.inode === now.inode && written.device === now.device;
}

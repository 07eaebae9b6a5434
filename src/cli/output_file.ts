/** Files that a verb writes for the user: an export, a page. */
import { RepriseError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import { fileError, isTaken, orFileError } from "../store/fs_errors.ts";
import { syncForeignDirectory } from "../store/home.ts";
import { parentOf } from "../store/layout.ts";
import { takeName, unlinkQuietly, writeChunks } from "../store/write/publish.ts";
import { requireDirectoryOf } from "./settings.ts";

/** Writes all of `chunks` durably and returns the number of bytes. An error leaves an older file unchanged. */
type WriteFile = (chunks: Iterable<Uint8Array>) => number;

/**
 * Prepares a file that appears when it is complete, readable only for its owner. `what` is its content, for messages: `the
 * export`.
 *
 * @returns the function that writes it. It throws `usage` if a file came to be at the path meanwhile, `storage_*`, and the
 * errors of its chunks.
 * @throws {RepriseError} `usage` if its directory is missing, if something other than a file is at `path`, and for an
 * existing file without `force`.
 */
export function outputFile(
  ports: Ports,
  path: string,
  { what, force }: { readonly what: string; readonly force: boolean },
): WriteFile {
  const { files, process, random } = ports;
  const refused = (why: string, hint: string) =>
    new RepriseError("usage", `Cannot write ${what} to ${JSON.stringify(path)}: ${why}`, { hint });
  const exists = () => refused("the file exists", "Add --force to replace it");
  requireDirectoryOf(path, `write ${what} to ${JSON.stringify(path)}`);
  const kind = orFileError(`write ${what}`, path, () => files.facts(path)?.kind);
  if (kind === "file" && !force) throw exists();
  if (kind !== undefined && kind !== "file") {
    throw refused("it is not a regular file", "Name another file, or - for stdout");
  }
  return (chunks) => {
    const temporary = `${path}.part-${process.pid}-${Math.floor(random() * 2 ** 48).toString(16)}`;
    let bytes = 0;
    const counted = function* () {
      for (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    try {
      writeChunks(ports, temporary, counted());
      if (force) files.rename(temporary, path);
      else takeName(files, temporary, path);
      // The user may remove the session next, from another disk.
      syncForeignDirectory(ports, parentOf(path));
    } catch (error) {
      unlinkQuietly(files, temporary);
      throw isTaken(error) ? exists() : fileError(error, `write ${what}`, path);
    }
    return bytes;
  };
}

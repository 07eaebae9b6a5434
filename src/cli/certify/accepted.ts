/** `certify.json` in the folder of a fixture: the bad cells that a team accepts. */
import { RepriseError } from "../../domain/errors.ts";
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { isJsonObject, parsedObject } from "../../domain/json.ts";
import type { Files } from "../../domain/ports.ts";
import { orFileError } from "../../store/fs_errors.ts";
import { writeNewFile } from "../../fixture/seal.ts";
import type { CellResult } from "./reporters.ts";

export interface AcceptedCells {
  /** Returns the accepted verdict of a cell; `null` for none. */
  of(cell: string): string | null;
  /** Replaces the file. */
  write(results: readonly CellResult[]): void;
}

/**
 * Reads the file.
 *
 * @throws {RepriseError} `usage` if it has another shape; `storage_…`.
 */
export function acceptedFile(files: Files, directory: string): AcceptedCells {
  const path = `${directory}/certify.json`;
  const text = orFileError(
    "read the accepted cells",
    path,
    () => files.facts(path) === null ? '{"accepted":{}}' : decodeUtf8Leniently(files.read(path)),
  );
  const accepted = parsedObject(text)?.accepted;
  if (!isJsonObject(accepted)) {
    throw new RepriseError("usage", `Cannot read ${JSON.stringify(path)}: it has no object "accepted"`, {
      hint: "Remove it, or write it again with --accept",
    });
  }
  return {
    of: (cell) => typeof accepted[cell] === "string" ? accepted[cell] : null,
    write(results) {
      const all = Object.fromEntries(results.map(({ cell, verdict }) => [cell.name, verdict]));
      orFileError("write the accepted cells", path, () => {
        const temporary = `${path}.part-${crypto.randomUUID()}`;
        writeNewFile(files, temporary, `${JSON.stringify({ accepted: all }, null, 2)}\n`);
        files.rename(temporary, path);
      });
    },
  };
}

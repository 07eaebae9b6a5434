/** `certify.json` beside a fixture: the bad cells of the fixtures in a folder that a team accepts. */
import { RepriseError } from "../../domain/errors.ts";
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { isJsonObject, parsedObject, stringMember } from "../../domain/json.ts";
import { withoutSlash } from "../../domain/text.ts";
import type { Files } from "../../domain/ports.ts";
import { orFileError } from "../../store/fs_errors.ts";
import { replaceFixtureFile } from "../../fixture/seal.ts";
import type { CellResult } from "./reporters.ts";
import { BAD } from "./verdict.ts";

export interface AcceptedCells {
  readonly path: string;
  /** Returns the accepted verdict of a cell; `null` for none. */
  of(cell: string): string | null;
  /** Accepts the bad cells among these; cells that were not run stay as they are. */
  write(results: readonly CellResult[]): void;
}

/**
 * Reads the file beside the fixture in `directory`, an absolute path.
 *
 * @throws {RepriseError} `usage` if it has another shape; `storage_…`.
 */
export function acceptedFile(files: Files, directory: string): AcceptedCells {
  const [, folder = "", name = ""] = /^(.*)\/([^/]+)$/.exec(withoutSlash(directory)) ?? [];
  const path = `${folder}/certify.json`;
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
  const own = isJsonObject(accepted[name]) ? accepted[name] : {};
  return {
    path,
    of: (cell) => stringMember(own, cell) ?? null,
    write(results) {
      const run = new Set(results.map(({ cell }) => cell.name));
      const kept = Object.entries(own).filter(([cell]) => !run.has(cell));
      const bad = results.flatMap(({ cell, verdict }) => BAD.has(verdict) ? [[cell.name, verdict]] : []);
      const all = { accepted: { ...accepted, [name]: Object.fromEntries([...kept, ...bad]) } };
      const text = `${JSON.stringify(all, null, 2)}\n`;
      orFileError("write the accepted cells", path, () => replaceFixtureFile(files, path, text));
    },
  };
}

/** Lists and copies the files of session tests. */
import { notPlain } from "../../fixture/seal.ts";
import { denoFiles } from "../../store/deno_files.ts";
import { fileError, orFileError } from "../../store/fs_errors.ts";

/** All plain files below a directory, sorted, by their paths inside it; empty if it is missing. */
export function filesBelow(directory: string, prefix = ""): string[] {
  return entries(`${directory}/${prefix}`).flatMap(({ name, isDirectory, isFile }) => {
    if (isDirectory) return filesBelow(directory, `${prefix}${name}/`);
    return isFile ? [`${prefix}${name}`] : [];
  });
}

/** The entries of a directory by name; empty if it is missing. @throws {RepriseError} `storage_*` if it cannot be read. */
export function entries(directory: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw fileError(error, "read a folder of a session test", directory);
  }
}

/** True if `path` exists. @throws {RepriseError} `storage_*` if that cannot be found out. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw fileError(error, "look for a file of a session test", path);
  }
}

/**
 * Checks that `path` is and holds only plain files and folders: the target of a link depends on its location.
 *
 * @throws {RepriseError} `bad_fixture` for anything else.
 */
export function requirePlain(path: string): void {
  const kind = orFileError("look for a file of a session test", path, () => denoFiles.facts(path)?.kind);
  if (kind === undefined || kind === "file") return;
  if (kind !== "directory") throw notPlain(path, kind);
  for (const { name } of entries(path)) requirePlain(`${path}/${name}`);
}

/** Copies the files below `from`, their executable bits included. */
export function copyBelow(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of filesBelow(from)) {
    const path = `${to}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    orFileError("copy a file of a session test", `${from}/${name}`, () => {
      const executable = ((Deno.statSync(`${from}/${name}`).mode ?? 0) & 0o100) !== 0;
      Deno.writeFileSync(path, Deno.readFileSync(`${from}/${name}`), { mode: executable ? 0o700 : 0o600 });
    });
  }
}

/** Sets the time of the last change of a directory and everything in it. */
export function setModified(directory: string, modified: Date): void {
  for (const { name, isDirectory } of entries(directory)) {
    if (isDirectory) setModified(`${directory}/${name}`, modified);
    else Deno.utimeSync(`${directory}/${name}`, modified, modified);
  }
  Deno.utimeSync(directory, modified, modified);
}

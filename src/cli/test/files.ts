/**
 * Folders of session tests: copying them to where they are played, and comparing what is in them.
 *
 * @module
 */
import { notPlain } from "../../fixture/seal.ts";
import { denoFiles } from "../../store/deno_files.ts";
import { fileError, orFileError } from "../../store/fs_errors.ts";

/** All plain files below a directory, sorted, by their paths inside it; none where it is not there. */
export function filesBelow(directory: string, prefix = ""): string[] {
  return entries(`${directory}/${prefix}`).flatMap(({ name, isDirectory, isFile }) => {
    if (isDirectory) return filesBelow(directory, `${prefix}${name}/`);
    return isFile ? [`${prefix}${name}`] : [];
  });
}

/** The entries of a directory by name; none where it is not there. Throws `storage_*` where it cannot be read. */
export function entries(directory: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw fileError(error, "look into a folder of a session test", directory);
  }
}

/** True where something is there. Throws `storage_*` where that cannot be seen. */
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
 * Nothing but plain files and folders may be copied or sealed: what a link means depends on where it stands.
 *
 * @throws {RepriseError} `bad_fixture` where `path` is or holds anything else.
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

/** Says of a directory and everything in it that it was last changed then. */
export function setModified(directory: string, modified: Date): void {
  for (const { name, isDirectory } of entries(directory)) {
    if (isDirectory) setModified(`${directory}/${name}`, modified);
    else Deno.utimeSync(`${directory}/${name}`, modified, modified);
  }
  Deno.utimeSync(directory, modified, modified);
}

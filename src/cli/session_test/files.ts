/**
 * Folders of session tests: copying them to where they are played, and comparing what is in them.
 *
 * @module
 */

/** All plain files below a directory, sorted, by their paths inside it; none where it is not there. */
export function filesBelow(directory: string, prefix = ""): string[] {
  return entries(`${directory}/${prefix}`).flatMap(({ name, isDirectory, isFile }) => {
    if (isDirectory) return filesBelow(directory, `${prefix}${name}/`);
    return isFile ? [`${prefix}${name}`] : [];
  });
}

/** The entries of a directory by name; none where it is not there. */
export function entries(directory: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** True where something is there. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Copies the files below `from`, their executable bits included. */
export function copyBelow(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of filesBelow(from)) {
    const path = `${to}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    const executable = ((Deno.statSync(`${from}/${name}`).mode ?? 0) & 0o100) !== 0;
    Deno.writeFileSync(path, Deno.readFileSync(`${from}/${name}`), { mode: executable ? 0o700 : 0o600 });
  }
}

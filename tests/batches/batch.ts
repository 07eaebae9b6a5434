/**
 * Loads many test files into one isolate: most of the time of a small test file goes to loading the program's modules.
 *
 * @module
 */

const TESTS = new URL("../", import.meta.url);

/** Test files below a folder of `tests/`, as URLs, sorted. */
export function testFiles(folder: string): string[] {
  const found: string[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(new URL(`${folder}/`, TESTS))) {
    if (isDirectory) found.push(...testFiles(`${folder}/${name}`));
    else if (name.endsWith("_test.ts")) found.push(new URL(`${folder}/${name}`, TESTS).href);
  }
  return found.sort();
}

/** Registers the tests of all files below folders of `tests/`. */
export async function load(...folders: readonly string[]): Promise<void> {
  for (const file of folders.flatMap(testFiles)) await import(file);
}

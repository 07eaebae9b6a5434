import { RepriseError } from "../../domain/errors.ts";
import { requireFolder } from "../../fixture/files.ts";
import { denoFiles } from "../../store/deno_files.ts";
import { fileError } from "../../store/fs_errors.ts";
import { entries, exists, filesBelow } from "./files.ts";

/** A folder with a `session.json`. */
export interface FoundTest {
  /** As it was named, or below a folder that was. */
  readonly name: string;
  readonly directory: string;
}

/**
 * The session tests at and below these directories, in their order and by name; each once. Nothing is looked for inside
 * of one.
 *
 * @throws {RepriseError} `usage` where one of them is or holds none; `bad_fixture` where one is a file; `storage_*`.
 */
export function findTests(directories: readonly string[], absolute: (path: string) => string): FoundTest[] {
  const found = new Map<string, FoundTest>();
  for (const name of directories) {
    requireFolder(denoFiles, name, "session.json");
    const inside = testsBelow(name.replace(/(?<=.)\/+$/, ""));
    if (inside.length === 0) {
      throw new RepriseError(
        "usage",
        `Cannot test ${JSON.stringify(name)}: no session.json is there or below`,
        {
          hint: hintFor(name),
        },
      );
    }
    for (const test of inside) {
      const directory = absolute(test);
      if (!found.has(directory)) found.set(directory, { name: test, directory });
    }
  }
  return [...found.values()];
}

/** Links to folders are followed, but none that leads up again: `above` are the real paths that led here. */
function testsBelow(directory: string, above: readonly string[] = []): string[] {
  if (exists(`${directory}/session.json`)) return [directory];
  const folders = entries(directory).map(({ name }) => `${directory}/${name}`).filter(isFolder);
  if (folders.length === 0) return [];
  const real = Deno.realPathSync(directory);
  return above.includes(real) ? [] : folders.flatMap((folder) => testsBelow(folder, [...above, real]));
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch (error) {
    // A link that leads nowhere, or into itself.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.FilesystemLoop) return false;
    throw fileError(error, "look for session tests", path);
  }
}

/** What to do about a folder without tests. */
function hintFor(directory: string): string {
  const isFixture = filesBelow(directory).some((name) => /(?:^|\/)fixture\.json$/.test(name));
  return isFixture
    ? "Fixtures without a session are played by run --fixture and serve; run --record writes one with its session"
    : "A session test is what run --record writes: a folder with a session.json";
}

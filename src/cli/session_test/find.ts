import { ReprError } from "../../domain/errors.ts";
import { entries, exists } from "./files.ts";

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
 * @throws {ReprError} `usage` where one of them is or holds none.
 */
export function findTests(directories: readonly string[], absolute: (path: string) => string): FoundTest[] {
  const found = new Map<string, FoundTest>();
  for (const name of directories) {
    const inside = testsBelow(name.replace(/(?<=.)\/+$/, ""));
    if (inside.length === 0) {
      throw new ReprError("usage", `Cannot test ${JSON.stringify(name)}: no session.json is there or below`, {
        hint: "A session test is what run --record writes: a folder with a session.json",
      });
    }
    for (const test of inside) {
      const directory = absolute(test);
      if (!found.has(directory)) found.set(directory, { name: test, directory });
    }
  }
  return [...found.values()];
}

function testsBelow(directory: string): string[] {
  if (exists(`${directory}/session.json`)) return [directory];
  return entries(directory).filter(({ isDirectory }) => isDirectory)
    .flatMap(({ name }) => testsBelow(`${directory}/${name}`));
}

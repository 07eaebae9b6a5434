/**
 * The entry of the executable.
 *
 * @module
 */
import { begin } from "./begin.ts";

await begin(async (name) => {
  // Calls that load no part need no loader either.
  const { loadPart } = await import("./embedded_script.ts");
  const { filesIn, readFromExecutable } = await import("./part_files.ts");
  const embedded = filesIn(import.meta.dirname ?? ".");
  return loadPart((...names) => readFromExecutable(names) ?? embedded(...names), name);
});

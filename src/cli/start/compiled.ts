/**
 * The entry of the executable.
 *
 * @module
 */
import { begin } from "./begin.ts";

await begin(async (name) => {
  // Calls that load no part need no loader either.
  const { loadPart } = await import("./embedded_script.ts");
  const { filesIn, filesInExecutable } = await import("./part_files.ts");
  return loadPart(filesInExecutable() ?? filesIn(import.meta.dirname ?? "."), name);
});

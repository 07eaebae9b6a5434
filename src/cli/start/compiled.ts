/**
 * The entry of the executable.
 *
 * @module
 */
import { begin } from "./begin.ts";

await begin(async (name) => {
  // Calls that load no part need no loader either.
  const { loadPart } = await import("./embedded_script.ts");
  return loadPart(import.meta.dirname ?? ".", name);
});

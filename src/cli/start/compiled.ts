/**
 * The entry of the executable.
 *
 * @module
 */
import { begin } from "./begin.ts";
import type { ReadFiles } from "./part_files.ts";

// Calls that load no part need no loader either.
const loader = async () => {
  const { loadPart, loadPriceTable } = await import("./embedded_script.ts");
  const { filesIn, readFromExecutable } = await import("./part_files.ts");
  const embedded = filesIn(import.meta.dirname ?? ".");
  const read: ReadFiles = (...names) => readFromExecutable(names) ?? embedded(...names);
  return { loadPart, loadPriceTable, read };
};

await begin(
  async (name) => {
    const { loadPart, read } = await loader();
    return loadPart(read, name);
  },
  async () => {
    const { loadPriceTable, read } = await loader();
    return loadPriceTable(read);
  },
);

/** Loads the parts of the program, and the price list, from this executable or from the files beside it. */
import type { PriceTable } from "../../domain/cost.ts";
import type { Part, PartName } from "./begin.ts";
import { loadPart, loadPriceTable } from "./embedded_script.ts";
import { filesIn, type ReadFiles, readFromExecutable } from "./part_files.ts";

const embedded = filesIn(import.meta.dirname ?? ".");
const read: ReadFiles = (...names) => readFromExecutable(names) ?? embedded(...names);

/** Loads a part. */
export function executablePart(name: PartName): Part {
  return loadPart(read, name);
}

/** Loads the price list. */
export function executablePrices(): PriceTable {
  return loadPriceTable(read);
}

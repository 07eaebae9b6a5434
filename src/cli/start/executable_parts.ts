/** Loads the parts of the program, and the price list, from this executable or from the files beside it. */
import type { PriceTable } from "../../domain/cost.ts";
import type { PartName, ProgramPart } from "./begin.ts";
import { loadPart, loadPriceTable } from "./embedded_script.ts";
import { filesIn, type ReadFiles, readFromExecutable } from "./part_files.ts";

const embedded = filesIn(import.meta.dirname ?? ".");
const read: ReadFiles = (...names) => readFromExecutable(names) ?? embedded(...names);

export function executablePart(name: PartName): ProgramPart {
  return loadPart(read, name);
}

export function executablePrices(): PriceTable {
  return loadPriceTable(read);
}

/** The whole program. */
import type { LoadPriceTable } from "../live_ports.ts";
import { loadVerbs } from "../load_verbs.ts";
import { startProcess } from "./process.ts";

/** Runs the command line in this process; resolves to its exit code. */
export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startProcess(args, loadPriceTable, loadVerbs);
}

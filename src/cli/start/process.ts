/** Runs command lines in this process, for the parts of the program. */
import { livePorts, type LoadPriceTable } from "../live_ports.ts";
import { main, prepareProcess } from "../main.ts";
import type { Verbs } from "../verbs.ts";

/** Runs a command line with these verbs; resolves to its exit code. */
export function startProcess(
  args: readonly string[],
  loadPriceTable: LoadPriceTable,
  verbs: Verbs,
): Promise<number> {
  prepareProcess();
  return main(args, livePorts(loadPriceTable), verbs);
}

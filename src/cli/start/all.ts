/** The whole program. */
import type { LoadPriceTable } from "../live_ports.ts";
import { ALL_VERBS } from "../verbs.ts";
import { startProcess } from "../main.ts";

export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startProcess(args, loadPriceTable, ALL_VERBS);
}

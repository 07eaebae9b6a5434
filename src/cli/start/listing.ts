/** The part of the program that lists sessions, as small as that for `show`. */
import type { LoadPriceTable } from "../live_ports.ts";
import { LS_VERB } from "../ls/command.ts";
import { startProcess } from "../main.ts";

export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startProcess(args, loadPriceTable, { top: [LS_VERB], fixture: [] });
}

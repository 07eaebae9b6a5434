/** The part of the program that shows a session: a small script of its own, because loading code is most of such a call. */
import type { LoadPriceTable } from "../live_ports.ts";
import { SHOW_VERB } from "../show/command.ts";
import { startProcess } from "../main.ts";

export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startProcess(args, loadPriceTable, { top: [SHOW_VERB], fixture: [] });
}

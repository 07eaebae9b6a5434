/**
 * The part of the program for `run` with a live API: a script of its own, because loading code is much of a short run. It
 * lacks what `--record` and `--fixture` need, more than half of the program.
 */
import type { LoadPriceTable } from "../live_ports.ts";
import { RUN_VERB } from "../run/command.ts";
import { startProcess } from "../main.ts";

export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startProcess(args, loadPriceTable, { top: [RUN_VERB], fixture: [] });
}

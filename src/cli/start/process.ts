/** Runs command lines in this process, for the parts of the program. */
import type { Verb } from "../declare.ts";
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

/** Runs a command line whose first argument names one of `family`; resolves to its exit code. */
export function startVerb(
  args: readonly string[],
  loadPriceTable: LoadPriceTable,
  family: readonly Verb[],
): Promise<number> {
  const top = family.filter(({ name }) => name === args[0]);
  return startProcess(args, loadPriceTable, { top, fixture: [] });
}

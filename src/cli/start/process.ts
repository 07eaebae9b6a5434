/** Runs command lines in this process, for the parts of the program. */
import type { Verb } from "../declare.ts";
import { livePorts, type LoadPriceTable } from "../live_ports.ts";
import type { Verbs } from "../load_verbs.ts";
import { main, prepareProcess } from "../main.ts";

/** Runs a command line with the verbs that `load` gives for it; resolves to its exit code. */
export function startProcess(
  args: readonly string[],
  loadPriceTable: LoadPriceTable,
  load: (args: readonly string[]) => Promise<Verbs>,
): Promise<number> {
  prepareProcess();
  return main(args, livePorts(loadPriceTable), load);
}

/** Runs a command line whose first argument names one of `family`; resolves to its exit code. */
export function startVerb(
  args: readonly string[],
  loadPriceTable: LoadPriceTable,
  family: readonly Verb[],
): Promise<number> {
  const top = family.filter(({ name }) => name === args[0]);
  return startProcess(args, loadPriceTable, () => Promise.resolve({ top, fixture: [] }));
}

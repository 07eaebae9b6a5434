/** The whole program. */
import { config } from "zod/core";
import type { LoadPriceTable } from "../live_ports.ts";
import { loadVerbs } from "../load_verbs.ts";
import { startProcess } from "./process.ts";

// zod would compile a function for each schema at its first use, which pays off after a thousand uses only.
config({ jitless: true });

/** Runs the command line in this process; resolves to its exit code. */
export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startProcess(args, loadPriceTable, loadVerbs);
}

/** The part of the program that lists sessions: a small script of its own, because loading code is most of such a call. */
import { VIEWING_VERBS } from "../inspection/viewing.ts";
import type { LoadPriceTable } from "../live_ports.ts";
import { startVerb } from "./process.ts";

/** Runs a command line of `ls`; resolves to its exit code. */
export function start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number> {
  return startVerb(args, loadPriceTable, VIEWING_VERBS);
}

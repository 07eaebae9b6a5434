/** The whole program. */
import { livePorts } from "../live_ports.ts";
import { loadVerbs } from "../load_verbs.ts";
import { main, prepareProcess } from "../main.ts";

/** Runs the command line in this process; resolves to its exit code. */
export function start(args: readonly string[]): Promise<number> {
  prepareProcess();
  return main(args, livePorts(), loadVerbs);
}

/** The part of the program that shows sessions: a small script of its own, because loading code is most of such a call. */
import { VIEWING_VERBS } from "../inspection/viewing.ts";
import { livePorts } from "../live_ports.ts";
import { main, prepareProcess } from "../main.ts";

/** Runs a command line whose first argument is one of {@linkcode VIEWING_VERBS}; resolves to its exit code. */
export function start(args: readonly string[]): Promise<number> {
  prepareProcess();
  const top = VIEWING_VERBS.filter(({ name }) => name === args[0]);
  return main(args, livePorts(), () => Promise.resolve({ top, fixture: [] }));
}

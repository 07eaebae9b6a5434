/** The whole program. */
import { config } from "zod/core";
import { loadVerbs } from "../load_verbs.ts";
import { startProcess } from "./process.ts";

// zod would compile a function for each schema at its first use, which pays off after a thousand uses only.
config({ jitless: true });

/** Runs the command line in this process; resolves to its exit code. */
export function start(args: readonly string[]): Promise<number> {
  return startProcess(args, loadVerbs);
}

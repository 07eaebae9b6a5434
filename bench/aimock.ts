/**
 * aimock, the peer that records and plays too, started as its own README says.
 *
 * @module
 */
import { join } from "node:path";
import type { BenchContext } from "./bench.ts";
import { npmPackage } from "./npm.ts";
import { type RunningServer, startServer } from "./servers.ts";

const AIMOCK = "@copilotkit/aimock@1.43.0";

/** An installed aimock. */
export interface Aimock {
  /** Name and version. */
  readonly name: string;
  /** Starts it on a free port with these arguments. */
  start(args: readonly string[]): Promise<RunningServer>;
}

/** Returns aimock, or the reason why it is not there as a string. */
export async function installAimock(context: BenchContext): Promise<Aimock | string> {
  const installed = await npmPackage(context, AIMOCK);
  if (typeof installed === "string") return installed;
  const { name, modules } = installed;
  const cli = join(modules, "@copilotkit", "aimock", "dist", "cli.js");
  return {
    name,
    start: (args) =>
      startServer(
        { program: "node", args: [cli, "-p", "0", ...args], cwd: modules },
        (line) => /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1],
      ),
  };
}

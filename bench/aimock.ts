/**
 * aimock, the peer that records and plays too: installed from npm into a temporary directory, never into the project,
 * and started as its own README says.
 *
 * @module
 */
import { join } from "node:path";
import { run } from "../scripts/process.ts";
import { hasProgram } from "./programs.ts";
import { type RunningServer, startServer } from "./servers.ts";

const AIMOCK = "@copilotkit/aimock@1.43.0";
const INSTALL_MS = 90_000;

/** An installed aimock. */
export interface Aimock {
  /** Name and version. */
  readonly name: string;
  /** Starts it on a free port with these arguments. */
  start(args: readonly string[]): Promise<RunningServer>;
}

/**
 * Runs `body` with aimock, and removes it afterwards; `body` gets the reason as a string where it cannot be had.
 */
export async function withAimock<T>(body: (aimock: Aimock | string) => Promise<T>): Promise<T> {
  if (!hasProgram("node") || !hasProgram("npm")) return await body("node and npm are not there");
  const directory = Deno.makeTempDirSync({ prefix: "reprise-bench-aimock-" });
  try {
    const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", directory];
    const { code } = await run("npm", ["install", ...flags, AIMOCK], { cwd: directory, timeout: INSTALL_MS });
    if (code !== 0) return await body(`${AIMOCK} cannot be had from the npm registry`);
    const cli = join(directory, "node_modules", "@copilotkit", "aimock", "dist", "cli.js");
    return await body({
      name: AIMOCK.replace("@copilotkit/", "").replace("@", " "),
      start: (args) =>
        startServer(
          { program: "node", args: [cli, "-p", "0", ...args], cwd: directory },
          (line) => /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1],
        ),
    });
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

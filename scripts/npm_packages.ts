/** Installs programs from npm into directories of their own, for tests and benches. */
import { dirname } from "node:path";
import { type Finished, run } from "./process.ts";

/** Longer than a slow network takes for 400 MB. */
const INSTALL_TIMEOUT_MS = 240_000;

/**
 * Installs packages, each with its exact version, so that `directory` appears complete or not at all; several processes
 * may do so at once. Its parent must exist.
 *
 * @returns the end of npm; nothing is installed if its exit code is not 0.
 */
export async function installPackages(
  directory: string,
  packages: readonly string[],
  flags: readonly string[],
): Promise<Finished> {
  const fresh = Deno.makeTempDirSync({ dir: dirname(directory), prefix: "install-" });
  try {
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error", ...flags];
    const finished = await run("npm", ["install", "--prefix", fresh, ...quiet, ...packages], {
      timeout: INSTALL_TIMEOUT_MS,
    });
    if (finished.code === 0 && !exists(directory)) Deno.renameSync(fresh, directory);
    return finished;
  } finally {
    if (exists(fresh)) Deno.removeSync(fresh, { recursive: true });
  }
}

/** True if something is at the path. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

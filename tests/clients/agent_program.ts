/**
 * Agents that are programs of their own, unmodified from npm: their exact versions and their installation.
 *
 * @module
 */
import { dirname } from "node:path";
import { outputOf, run } from "../../scripts/process.ts";

/** A package, its exact version, and the program that it installs. */
export interface AgentPackage {
  readonly name: string;
  readonly version: string;
  readonly program: string;
}

/** Codex CLI. */
export const CODEX: AgentPackage = { name: "@openai/codex", version: "0.169.0", program: "codex" };
/** Claude Code. */
export const CLAUDE_CODE: AgentPackage = {
  name: "@anthropic-ai/claude-code",
  version: "2.1.197",
  program: "claude",
};

/** True on the systems for which the packages are known to have a program that runs without more. */
export const RUNS_AGENTS = Deno.build.os === "linux" && Deno.build.arch === "x86_64";

/** The end of a test's name where {@linkcode RUNS_AGENTS} is false, so that nobody takes a skipped test for a passed one. */
export const NOT_HERE = RUNS_AGENTS ? "" : " (ignored: only on Linux x64)";

/** Longer than a slow network takes for 400 MB. */
const INSTALL_TIMEOUT_MS = 240_000;

/**
 * Returns the `PATH` on which a package's program and Node are found. Installs the package into the user's cache
 * directory, unless it is there.
 *
 * @throws {Error} if npm cannot install it, with the output of npm.
 */
export async function pathWith({ name, version, program }: AgentPackage): Promise<string> {
  const cache = `${cacheDirectory()}/reprise-clients`;
  const directory = `${cache}/${program}-${version}`;
  if (!exists(`${directory}/node_modules/.bin/${program}`)) {
    Deno.mkdirSync(cache, { recursive: true });
    const fresh = Deno.makeTempDirSync({ dir: cache, prefix: "install-" });
    try {
      const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
      const args = ["install", "--prefix", fresh, ...quiet, `${name}@${version}`];
      const installed = await run("npm", args, { timeout: INSTALL_TIMEOUT_MS });
      if (installed.code !== 0) {
        throw new Error(
          `Cannot install ${name} ${version} from the npm registry, without which this test says nothing: ` +
            outputOf(installed),
        );
      }
      // Tests may run side by side: the name appears complete or not at all.
      if (!exists(directory)) Deno.renameSync(fresh, directory);
    } finally {
      if (exists(fresh)) Deno.removeSync(fresh, { recursive: true });
    }
  }
  const node = outputOf(await run("sh", ["-c", "command -v node"]));
  return `${directory}/node_modules/.bin:${dirname(node)}:/usr/bin:/bin`;
}

function cacheDirectory(): string {
  const configured = Deno.env.get("XDG_CACHE_HOME") ?? "";
  return configured === "" ? `${Deno.env.get("HOME")}/.cache` : configured;
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

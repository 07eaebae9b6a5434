/**
 * Programs from npm to compare with: installed once into the cache directory of the benches, never into the project.
 *
 * @module
 */
import { join } from "node:path";
import { run } from "../scripts/process.ts";
import type { BenchContext } from "./bench.ts";
import { hasProgram } from "./programs.ts";

/** Longer than a slow network takes for 200 MB. */
const INSTALL_MS = 240_000;

/** An installed package. */
export interface NpmPackage {
  /** Name and version, without scope: `codex 0.169.0`. */
  readonly name: string;
  /** Its `node_modules`; an absolute path. */
  readonly modules: string;
}

/**
 * The package `spec`, such as `@openai/codex@0.169.0`, or the reason why it is not there as a string. A smoke run takes
 * what is installed already.
 */
export async function npmPackage(context: BenchContext, spec: string): Promise<NpmPackage | string> {
  if (!hasProgram("node") || !hasProgram("npm")) return "node and npm are not there";
  const [, name = spec, version = ""] = /^(?:@[^/]+\/)?([^@]+)@(.+)$/.exec(spec) ?? [];
  const directory = join(context.cacheDirectory, `npm-${name}-${version}`);
  const installed = { name: `${name} ${version}`, modules: join(directory, "node_modules") };
  if (exists(directory)) return installed;
  if (context.smoke) return "not installed; a smoke run installs nothing";
  context.say(`Installing ${spec} from the npm registry`);
  const fresh = Deno.makeTempDirSync({ dir: context.cacheDirectory, prefix: "install-" });
  try {
    const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", fresh];
    const { code } = await run("npm", ["install", ...flags, spec], { cwd: fresh, timeout: INSTALL_MS });
    if (code !== 0) return `${spec} cannot be had from the npm registry`;
    // The name appears complete or not at all.
    Deno.renameSync(fresh, directory);
    return installed;
  } finally {
    if (exists(fresh)) Deno.removeSync(fresh, { recursive: true });
  }
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

/**
 * Programs from npm to compare with: installed once into the cache directory of the benches, never into the project.
 *
 * @module
 */
import { join } from "node:path";
import { exists, installPackages } from "../scripts/npm_packages.ts";
import type { BenchContext } from "./bench.ts";
import { hasProgram } from "./programs.ts";

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
  const { code } = await installPackages(directory, [spec], ["--ignore-scripts"]);
  return code === 0 ? installed : `${spec} cannot be had from the npm registry`;
}

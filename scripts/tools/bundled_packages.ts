import { RepriseError } from "../../src/domain/errors.ts";
import { outputOf, run } from "../process.ts";

/** A package in the module graph, as `deno info --json` describes it. */
export interface GraphPackage {
  readonly name: string;
  readonly version: string;
  /** Keys of the packages that it imports. */
  readonly dependencies: readonly string[];
  /** The folder of its files. */
  readonly localPath: string;
}

/** The members of `deno info --json` that count here. */
interface Graph {
  readonly modules: readonly { readonly npmPackage?: string }[];
  readonly npmPackages: Readonly<Record<string, GraphPackage>>;
}

/** Reads the module graph of one entry. */
async function graphOf(root: string, entry: string): Promise<Graph> {
  const listed = await run(Deno.execPath(), ["info", "--json", entry], { cwd: root });
  if (listed.code !== 0) {
    throw new RepriseError("unexpected", `Cannot list the modules of ${entry}: ${outputOf(listed)}`);
  }
  return JSON.parse(listed.stdout);
}

/**
 * Returns the npm packages that modules import, directly or not, by their keys in deno.lock.
 *
 * @param root The checkout; an absolute path.
 * @param entries The modules, relative to the root.
 * @throws {RepriseError} `unexpected` if Deno cannot list the modules.
 */
export async function bundledPackages(
  root: string,
  entries: readonly string[],
): Promise<Map<string, GraphPackage>> {
  const graphs = await Promise.all(entries.map((entry) => graphOf(root, entry)));
  const found = new Map<string, GraphPackage>();
  for (const { modules, npmPackages } of graphs) {
    const waiting = modules.flatMap(({ npmPackage }) => npmPackage ?? []);
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const details = npmPackages[key];
      if (details === undefined) {
        throw new RepriseError("unexpected", `Cannot find ${key} in the module graph`);
      }
      if (found.has(key)) continue;
      found.set(key, details);
      waiting.push(...details.dependencies);
    }
  }
  return found;
}

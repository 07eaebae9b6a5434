/** The npm packages in the executable: their SBOM and their licenses. */
import { join } from "node:path";
import { bundleEntries } from "../compile/build.ts";
import { RUNTIME_VERSION } from "../compile/runtime_from_npm.ts";
import { command } from "../pack.ts";

/** Members of `deno info --json` that count here. */
interface Graph {
  readonly modules: readonly { readonly npmPackage?: string }[];
  readonly npmPackages: Readonly<
    Record<
      string,
      { readonly name: string; readonly version: string; readonly dependencies: readonly string[] }
    >
  >;
}

/** Names of files with a license or a notice. */
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * Installs the packages of the executable in a temporary folder, and writes their SBOM and their licenses.
 *
 * @throws {RepriseError} `unexpected` if Deno or npm fails.
 */
export async function describePackages(version: string, sbom: string, licenses: string): Promise<void> {
  const dependencies = await packagesOf(bundleEntries());
  const directory = Deno.makeTempDirSync({ prefix: "reprise-sbom-" });
  try {
    const manifest = { name: "reprise", version, license: "MIT", dependencies };
    Deno.writeTextFileSync(join(directory, "package.json"), JSON.stringify(manifest));
    await command("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], directory);
    const bom = JSON.parse(await command("npm", ["sbom", "--sbom-format=cyclonedx"], directory));
    bom.metadata.component.name = "reprise";
    const runtime = { type: "platform", name: "deno", version: RUNTIME_VERSION };
    bom.components.push({ ...runtime, purl: `pkg:github/denoland/deno@v${RUNTIME_VERSION}` });
    Deno.writeTextFileSync(sbom, `${JSON.stringify(bom, null, 2)}\n`);
    const sections = Object.keys(dependencies).map((name) =>
      `${"-".repeat(80)}\n${name} ${dependencies[name]}\n\n${
        licenseIn(join(directory, "node_modules", name))
      }\n`
    );
    Deno.writeTextFileSync(
      licenses,
      `The reprise binary contains these npm packages. The Deno runtime in it has the MIT license.\n\n${
        sections.join("\n")
      }`,
    );
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

/** Returns the versions of the packages that modules import, directly or not, by their names. */
async function packagesOf(entries: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const entry of entries) {
    const { modules, npmPackages }: Graph = JSON.parse(
      await command(Deno.execPath(), ["info", "--json", entry]),
    );
    const waiting = modules.flatMap(({ npmPackage }) => npmPackage ?? []);
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const details = npmPackages[key];
      if (details === undefined || found[details.name] !== undefined) continue;
      found[details.name] = details.version;
      waiting.push(...details.dependencies);
    }
  }
  return found;
}

/** Returns the text of a package's license files; without any, the license that its package.json names. */
function licenseIn(directory: string): string {
  const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
  const files = names.filter((name) => LICENSE_FILE.test(name)).sort();
  if (files.length > 0) {
    return files.map((name) => Deno.readTextFileSync(join(directory, name)).trim()).join("\n\n");
  }
  const { license, author } = JSON.parse(Deno.readTextFileSync(join(directory, "package.json")));
  return `License: ${license}, by ${author?.name ?? author}`;
}

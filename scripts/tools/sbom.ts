/**
 * Writes the CycloneDX SBOM of the binary: the npm packages that its entries import, directly or not, with the hashes
 * of deno.lock, and the runtime. Also writes the licenses of these packages.
 *
 * Usage: `sbom.ts --root DIR --out FILE --licenses FILE --version VERSION --time SECONDS ENTRY…`, the entries relative
 * to the root
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Enums, Models, Serialize, SPDX, Spec } from "@cyclonedx/cyclonedx-library";
import { RepriseError } from "../../src/domain/errors.ts";
import { runScript } from "../terminal.ts";
import { bundledPackages, type GraphPackage } from "./bundled_packages.ts";
import { writeLicenses } from "./licenses.ts";

/** The members of deno.lock that count here. */
interface Lock {
  readonly npm: Readonly<Record<string, { readonly integrity?: string } | undefined>>;
}

/** The program that the SBOM describes. */
interface Program {
  readonly version: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly denoVersion: string;
}

/** Describes the program, its packages and its runtime. */
function bomOf(program: Program, packages: ReadonlyMap<string, GraphPackage>, lock: Lock): Models.Bom {
  const main = new Models.Component(Enums.ComponentType.Application, "reprise", {
    version: program.version,
    bomRef: `reprise@${program.version}`,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense("MIT")]),
  });
  const runtime = new Models.Component(Enums.ComponentType.Platform, "deno", {
    version: program.denoVersion,
    bomRef: `deno@${program.denoVersion}`,
    purl: `pkg:github/denoland/deno@v${program.denoVersion}`,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense("MIT")]),
  });
  main.dependencies.add(runtime.bomRef);
  const components = new Map(
    Array.from(packages, ([key, details]) => [key, componentOf(key, details, lock)]),
  );
  for (const [key, component] of components) {
    main.dependencies.add(component.bomRef);
    for (const dependency of packages.get(key)?.dependencies ?? []) {
      const other = components.get(dependency);
      if (other !== undefined) component.dependencies.add(other.bomRef);
    }
  }
  const metadata = new Models.Metadata({ component: main, timestamp: new Date(program.time * 1000) });
  return new Models.Bom({
    metadata,
    components: new Models.ComponentRepository([runtime, ...components.values()]),
  });
}

function componentOf(key: string, { name, version, localPath }: GraphPackage, lock: Lock): Models.Component {
  const integrity = lock.npm[key]?.integrity;
  if (integrity?.startsWith("sha512-") !== true) {
    throw new RepriseError("unexpected", `Cannot find the sha512 of ${key} in deno.lock`);
  }
  const [scope, base] = name.startsWith("@") ? name.split("/") : [undefined, name];
  return new Models.Component(Enums.ComponentType.Library, base ?? name, {
    ...(scope === undefined ? {} : { group: scope }),
    version,
    bomRef: key,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    hashes: new Models.HashDictionary([[
      Enums.HashAlgorithm["SHA-512"],
      Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex"),
    ]]),
    licenses: new Models.LicenseRepository(licensesOf(localPath)),
  });
}

function licensesOf(directory: string): Models.License[] {
  const { license } = JSON.parse(Deno.readTextFileSync(join(directory, "package.json"))) as {
    readonly license?: unknown;
  };
  if (typeof license !== "string") return [];
  if (SPDX.isSupportedSpdxId(license)) return [new Models.SpdxLicense(license)];
  return [new Models.NamedLicense(license)];
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      root: { type: "string" },
      out: { type: "string" },
      licenses: { type: "string" },
      version: { type: "string" },
      time: { type: "string" },
    },
  });
  const { root, out, licenses, version } = values;
  const time = Number(values.time);
  if (root === undefined || out === undefined || licenses === undefined || version === undefined) {
    throw new RepriseError("usage", "--root, --out, --licenses and --version are needed");
  }
  if (!Number.isSafeInteger(time)) throw new RepriseError("usage", "--time is needed, in seconds");
  const packages = await bundledPackages(root, positionals);
  const lock: Lock = JSON.parse(Deno.readTextFileSync(join(root, "deno.lock")));
  const bom = bomOf({ version, time, denoVersion: Deno.version.deno }, packages, lock);
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  Deno.writeTextFileSync(out, `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`);
  writeLicenses([...packages.values()], licenses);
  return 0;
}

if (import.meta.main) await runScript(() => main(Deno.args));

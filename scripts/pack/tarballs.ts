/**
 * Tarballs of the npm packages, packed by npm itself. The same files give the same bytes: npm sets fixed times and modes.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { executableName, type Target } from "../compile/targets.ts";
import { exists } from "../npm_packages.ts";
import { outputOf, run } from "../process.ts";
import {
  LAUNCHER_FILES,
  launcherManifest,
  LICENSES,
  type PackageFacts,
  type PackageManifest,
  platformManifest,
} from "./manifests.ts";

/** Sources of the launcher package in the checkout, and their places in the package. */
const LAUNCHER_SOURCES: readonly (readonly [from: string, to: string])[] = [
  ["npm", "."],
  ["python", "python"],
  ["README.md", "README.md"],
  ["LICENSE", "LICENSE"],
];

/**
 * Packs the launcher, which depends on the packages for `targets`.
 *
 * @returns the path of the tarball, in `out`.
 * @throws {RepriseError} `unexpected` if a file that the package exports is missing, or if npm fails.
 */
export async function packLauncher(
  root: string,
  facts: PackageFacts,
  targets: readonly Target[],
  out: string,
): Promise<string> {
  return await pack(launcherManifest(facts, targets), out, (directory) => {
    for (const [from, to] of LAUNCHER_SOURCES) copy(join(root, from), join(directory, to));
    const missing = LAUNCHER_FILES.filter((path) => !exists(join(directory, path)));
    if (missing.length === 0) return;
    throw new RepriseError("unexpected", `Cannot pack ${facts.name}: npm/ lacks ${missing.join(", ")}`, {
      hint: "Add the files, or remove their row from scripts/pack/manifests.ts",
    });
  });
}

/**
 * Packs the executable `binary` for `target`.
 *
 * @param licenses The file with the licenses of the packages in it; `null` leaves it out.
 * @returns the path of the tarball, in `out`.
 * @throws {RepriseError} `unexpected` if npm fails.
 */
export async function packPlatform(
  root: string,
  facts: PackageFacts,
  target: Target,
  binary: string,
  licenses: string | null,
  out: string,
): Promise<string> {
  const manifest = platformManifest(facts, target);
  return await pack(manifest, out, (directory) => {
    const executable = join(directory, executableName(target));
    Deno.copyFileSync(binary, executable);
    Deno.chmodSync(executable, 0o755);
    Deno.copyFileSync(join(root, "LICENSE"), join(directory, "LICENSE"));
    if (licenses !== null) Deno.copyFileSync(licenses, join(directory, LICENSES));
    const readme = `# ${manifest.name}\n\n${
      manifest["description"]
    }. Install \`${facts.name}\`, which finds it.\n`;
    Deno.writeTextFileSync(join(directory, "README.md"), readme);
  });
}

/** Removes the tarballs of earlier versions of these packages from `out`. */
export function removeTarballs(name: string, out: string): void {
  if (!exists(out)) return;
  const names = Array.from(Deno.readDirSync(out), (entry) => entry.name);
  const own = names.filter((file) => file.startsWith(`${filePrefix(name)}-`) && file.endsWith(".tgz"));
  for (const file of own) Deno.removeSync(join(out, file));
}

/** Returns the name that npm gives the tarball of a package. */
function tarballName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${filePrefix(name)}-${version}.tgz`;
}

function filePrefix(name: string): string {
  return name.replace(/^@/, "").replaceAll("/", "-");
}

/** Packs a directory that `fill` has filled; the tarball appears complete or not at all. */
async function pack(
  manifest: PackageManifest,
  out: string,
  fill: (directory: string) => void,
): Promise<string> {
  Deno.mkdirSync(out, { recursive: true });
  const workDirectory = Deno.makeTempDirSync({ dir: out, prefix: ".pack-" });
  try {
    const directory = join(workDirectory, "package");
    Deno.mkdirSync(directory);
    fill(directory);
    Deno.writeTextFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    const flags = ["--ignore-scripts", "--silent", "--pack-destination", workDirectory];
    const finished = await run("npm", ["pack", ...flags, directory]);
    const tarball = tarballName(manifest);
    if (finished.code !== 0 || !exists(join(workDirectory, tarball))) {
      throw new RepriseError("unexpected", `Cannot pack ${manifest.name} with npm: ${outputOf(finished)}`);
    }
    Deno.renameSync(join(workDirectory, tarball), join(out, tarball));
    return join(out, tarball);
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
}

/** Copies a file or a folder, with fixed modes; without an effect if it is missing. */
function copy(from: string, to: string): void {
  if (!exists(from)) return;
  if (Deno.statSync(from).isDirectory) {
    Deno.mkdirSync(to, { recursive: true });
    for (const { name } of Deno.readDirSync(from)) {
      if (name !== "__pycache__") copy(join(from, name), join(to, name));
    }
    return;
  }
  Deno.mkdirSync(dirname(to), { recursive: true });
  Deno.copyFileSync(from, to);
  Deno.chmodSync(to, 0o644);
}

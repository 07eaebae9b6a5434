/**
 * The files of a release: archives, checksums, SBOM, install script and notes.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { bundleEntries } from "../compile/build.ts";
import { binaryName, executableName, type Target, TARGETS } from "../compile/targets.ts";
import { LICENSES } from "../pack/manifests.ts";
import { outputOf, run } from "../process.ts";

/** Facts of a release that its files are made from. */
export interface Release {
  /** The checkout; an absolute path. */
  readonly root: string;
  readonly version: string;
  /** `OWNER/NAME` of the repository on GitHub. */
  readonly repository: string;
  /** Time of the commit in seconds since 1970: the same commit gives the same files. */
  readonly time: number;
}

/** Files of each archive beside the executable: their names there, and their paths in the checkout. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  "LICENSE": "LICENSE",
  "README.md": "README.md",
  "CHANGELOG.md": "CHANGELOG.md",
  "reprise.1": "docs/reprise.1",
};

/** Name of the checksums' file. */
const SUMS = "SHA256SUMS";

/** The repository that install.sh in the checkout names. */
const PLACEHOLDER = "OWNER/reprise";

/** Name of a target's archive. */
function archiveName(version: string, target: Target): string {
  return `reprise-${version}-${target}${target.startsWith("windows-") ? ".zip" : ".tar.gz"}`;
}

/**
 * Writes an archive for each target into `out`.
 *
 * @param binaries The folder of the executables.
 * @param licenses The file that {@linkcode writeSbom} wrote.
 * @throws {RepriseError} `unexpected` if an archive cannot be written.
 */
export async function writeArchives(
  release: Release,
  binaries: string,
  licenses: string,
  out: string,
): Promise<void> {
  const { root, version, time } = release;
  for (const target of Object.keys(TARGETS) as Target[]) {
    await runTool(root, "archive.ts", [
      ...["--out", join(out, archiveName(version, target))],
      ...["--folder", `reprise-${version}-${target}`],
      ...["--time", String(time)],
      "--executable",
      `${executableName(target)}=${join(binaries, binaryName(target))}`,
      ...Object.entries(DOCUMENTS).flatMap(([name, path]) => ["--file", `${name}=${join(root, path)}`]),
      ...["--file", `${LICENSES}=${licenses}`],
    ]);
  }
}

/**
 * Writes the SBOM of the executable into `out`, and the licenses of its packages to the file `licenses`.
 *
 * @throws {RepriseError} `unexpected` if a package has no checksum in deno.lock.
 */
export async function writeSbom(
  { root, version, time }: Release,
  licenses: string,
  out: string,
): Promise<void> {
  await runTool(root, "sbom.ts", [
    ...["--root", root, "--out", join(out, `reprise-${version}.cdx.json`), "--licenses", licenses],
    ...["--version", version, "--time", String(time)],
    ...bundleEntries(),
  ]);
}

/**
 * Writes install.sh with the name of the repository into `out`.
 *
 * @throws {RepriseError} `unexpected` if install.sh has no place for it.
 */
export function writeInstaller({ root, repository }: Release, out: string): void {
  const text = Deno.readTextFileSync(join(root, "install.sh"));
  if (!text.includes(`DEFAULT_REPOSITORY=${PLACEHOLDER}\n`)) {
    throw new RepriseError(
      "unexpected",
      `Cannot write install.sh: it has no DEFAULT_REPOSITORY=${PLACEHOLDER}`,
    );
  }
  Deno.writeTextFileSync(join(out, "install.sh"), text.replaceAll(PLACEHOLDER, repository), { mode: 0o755 });
}

/** Writes the checksums of all files in `out` beside them, in the format of sha256sum. */
export async function writeSums(out: string): Promise<void> {
  const names = Array.from(Deno.readDirSync(out), ({ name }) => name).filter((name) => name !== SUMS).sort();
  const lines = await Promise.all(
    names.map(async (name) => `${await sha256OfFile(join(out, name))}  ${name}\n`),
  );
  Deno.writeTextFileSync(join(out, SUMS), lines.join(""));
}

/** Returns the release notes: the section of the changelog, and how to verify a download. */
export function notesOf({ version, repository }: Release, section: string): string {
  return `${section}

## Verify a download

\`\`\`sh
sha256sum --check --ignore-missing ${SUMS}
gh attestation verify ${archiveName(version, "linux-x64")} --repo ${repository}
\`\`\`
`;
}

/** Runs a script of scripts/tools, which has packages of its own. */
async function runTool(root: string, script: string, args: readonly string[]): Promise<void> {
  const folder = join(root, "scripts", "tools");
  const flags = [
    "run",
    "-A",
    "--quiet",
    "--no-check",
    "--config",
    join(folder, "deno.json"),
    join(folder, script),
  ];
  const finished = await run(Deno.execPath(), [...flags, ...args], { cwd: root });
  if (finished.code !== 0) {
    throw new RepriseError("unexpected", `scripts/tools/${script} failed: ${outputOf(finished)}`);
  }
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return hash.digest("hex");
}

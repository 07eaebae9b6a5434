/**
 * `deno task release --repository OWNER/NAME`: writes the files of a release to dist/release: an archive for each
 * platform, the npm packages, `install.sh`, an SBOM and checksums. Needs GNU tar and npm. CONTRIBUTING.md has the steps
 * around it.
 *
 * `--binaries DIR` names the folder of the executables (default: dist/binaries), `--out DIR` that of the files.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { binaryName, executableName, type Target, TARGETS } from "./compile/targets.ts";
import { exists } from "./npm_packages.ts";
import { command, type Executables, executablesIn, packAll } from "./pack.ts";
import { identityOf, LICENSES } from "./pack/manifests.ts";
import { describePackages } from "./release/bundled_packages.ts";
import { parseFlags, runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const USAGE = "deno task release --repository OWNER/NAME [--binaries DIR] [--out DIR]";
const FLAGS = {
  repository: { type: "string" },
  binaries: { type: "string" },
  out: { type: "string" },
} as const;

/** Files of each archive beside the executable and the licenses of its packages. */
const DOCUMENTS = ["LICENSE", "README.md", "CHANGELOG.md"];

/** Repository that install.sh names in the checkout. */
const PLACEHOLDER = "OWNER/reprise";

async function main(args: readonly string[]): Promise<number> {
  const { repository, binaries = join(ROOT, "dist/binaries"), ...flags } = parseFlags(args, FLAGS, USAGE);
  const out = resolve(flags.out ?? join(ROOT, "dist/release"));
  if (repository === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw new RepriseError("usage", "Cannot release without a repository", { hint: USAGE });
  }
  const executables = executablesIn(resolve(binaries));
  const missing = (Object.keys(TARGETS) as Target[]).filter((target) => !executables.has(target));
  if (missing.length > 0) {
    throw new RepriseError(
      "usage",
      `Cannot release: ${binaries} has no ${missing.map(binaryName).join(", ")}`,
      {
        hint: "Compile it with: deno task compile --target PLATFORM --out DIR/reprise-PLATFORM",
      },
    );
  }
  // A file of an earlier release would be published as one of this release.
  if (exists(out)) {
    throw new RepriseError("usage", `Cannot write the release to ${out}: it exists`, { hint: "Remove it" });
  }
  Deno.mkdirSync(out, { recursive: true });
  const work = Deno.makeTempDirSync({ prefix: "reprise-release-" });
  try {
    const { version } = identityOf(Deno.readTextFileSync(join(ROOT, "deno.json")));
    const licenses = join(work, LICENSES);
    await describePackages(version, join(out, "reprise.cdx.json"), licenses);
    await packAll(executables, licenses, out);
    await writeArchives(executables, licenses, work, out);
  } finally {
    Deno.removeSync(work, { recursive: true });
  }
  const script = Deno.readTextFileSync(join(ROOT, "install.sh")).replaceAll(PLACEHOLDER, repository);
  Deno.writeTextFileSync(join(out, "install.sh"), script, { mode: 0o755 });
  const names = Array.from(Deno.readDirSync(out), ({ name }) => name).sort();
  Deno.writeTextFileSync(join(out, "SHA256SUMS"), await command("sha256sum", names, out));
  say(`Wrote ${out}`);
  return 0;
}

/** Writes an archive for each executable, which holds one folder with the archive's name. */
async function writeArchives(
  executables: Executables,
  licenses: string,
  work: string,
  out: string,
): Promise<void> {
  for (const [target, path] of executables) {
    const name = `reprise-${target}`;
    const executable = join(work, name, executableName(target));
    Deno.mkdirSync(join(work, name));
    Deno.copyFileSync(path, executable);
    Deno.chmodSync(executable, 0o755);
    await command("cp", [...DOCUMENTS.map((document) => join(ROOT, document)), licenses, join(work, name)]);
    await command("tar", ["-czf", join(out, `${name}.tar.gz`), "--owner=0", "--group=0", "-C", work, name]);
  }
}

if (import.meta.main) await runScript(() => main(Deno.args));

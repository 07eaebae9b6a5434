/**
 * `deno task release`: checks that the checkout can be released, and writes all files of the release.
 *
 * `--check` ends after the checks. `--repository OWNER/NAME` is the repository on GitHub. `--binaries DIR` takes
 * finished executables (`reprise-TARGET`) instead of compiling them, `--out DIR` names the folder (default:
 * dist/release). The folder gets `assets/` for GitHub, `npm/` with tarballs, and `notes.md`. docs/releasing.md has the
 * steps around it.
 *
 * @module
 */
import { dirname, join, resolve } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { counted } from "../src/domain/text.ts";
import { build } from "./compile/build.ts";
import { binaryName, hostTarget, type Target, TARGETS } from "./compile/targets.ts";
import { exists } from "./npm_packages.ts";
import { outputOf, run } from "./process.ts";
import {
  notesOf,
  type Release,
  writeArchives,
  writeInstaller,
  writeSbom,
  writeSums,
} from "./release/assets.ts";
import { checkCheckout } from "./release/checkout.ts";
import { packForNpm } from "./release/npm.ts";
import { changelogSection, versionIn } from "./release/version.ts";
import { parseFlags, runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const USAGE = "deno task release [--check] [--repository OWNER/NAME] [--binaries DIR] [--out DIR]";
const FLAGS = {
  check: { type: "boolean" },
  repository: { type: "string" },
  binaries: { type: "string" },
  out: { type: "string" },
} as const;

/**
 * Runs the command line given in `args`.
 *
 * @throws {RepriseError} `usage` for a checkout that cannot be released, an unknown flag or a missing executable; else
 * as {@linkcode build} does.
 */
async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, FLAGS, USAGE);
  const version = versionIn(Deno.readTextFileSync(join(ROOT, "deno.json")));
  const section = changelogSection(Deno.readTextFileSync(join(ROOT, "CHANGELOG.md")), version);
  const { hash, time } = await checkCheckout(ROOT, `v${version}`);
  say(`Version ${version} at commit ${hash}: CHANGELOG.md, tag and checkout agree`);
  if (flags.check === true) return 0;
  const release: Release = { root: ROOT, version, repository: repositoryOf(flags.repository), time };
  const out = flags.out === undefined ? join(ROOT, "dist", "release") : resolve(flags.out);
  if (exists(out)) {
    throw new RepriseError("usage", `Cannot write the release to ${out}: it exists`, {
      hint: "Remove it, or name another folder with --out",
    });
  }
  Deno.mkdirSync(dirname(out), { recursive: true });
  const work = Deno.makeTempDirSync({ dir: dirname(out), prefix: ".release-" });
  try {
    const fresh = join(work, "release");
    await write(release, section, flags.binaries === undefined ? null : resolve(flags.binaries), work, fresh);
    Deno.renameSync(fresh, out);
  } finally {
    Deno.removeSync(work, { recursive: true });
  }
  say(`Wrote ${out}`);
  return 0;
}

/** Writes all files of a release to the new folder `out`. */
async function write(
  release: Release,
  section: string,
  binaries: string | null,
  work: string,
  out: string,
): Promise<void> {
  const assets = join(out, "assets");
  Deno.mkdirSync(assets, { recursive: true });
  const executables = binaries ?? await compileAll(join(work, "binaries"));
  await checkExecutables(executables, release.version);
  const licenses = join(work, "licenses.txt");
  await writeSbom(release, licenses, assets);
  await writeArchives(release, executables, licenses, assets);
  writeInstaller(release, assets);
  await writeSums(assets);
  Deno.writeTextFileSync(join(out, "notes.md"), notesOf(release, section));
  say(`${counted([...Deno.readDirSync(assets)].length, "file")} for GitHub`);
  await packForNpm(release, executables, licenses, join(out, "npm"));
  say(`${counted([...Deno.readDirSync(join(out, "npm"))].length, "package")} for npm`);
}

/** Compiles an executable for each target with the official runtime. */
async function compileAll(directory: string): Promise<string> {
  for (const target of Object.keys(TARGETS) as Target[]) {
    await build({
      root: ROOT,
      out: join(directory, binaryName(target)),
      target,
      runtimeFromNpm: false,
      say,
    });
  }
  return directory;
}

/** Checks that each target has an executable, and that the one for this machine prints the version. */
async function checkExecutables(directory: string, version: string): Promise<void> {
  const missing = (Object.keys(TARGETS) as Target[]).map(binaryName)
    .filter((name) => !exists(join(directory, name)));
  if (missing.length > 0) {
    throw new RepriseError("usage", `Cannot release: ${directory} has no ${missing.join(", ")}`, {
      hint: "Compile it with: deno task compile --target PLATFORM",
    });
  }
  const host = hostTarget();
  if (host === null) return;
  const started = await run(join(directory, binaryName(host)), ["--version"]);
  if (started.code === 0 && started.stdout.trim() === version) return;
  throw new RepriseError("usage", `Cannot release ${version}: --version prints "${outputOf(started)}"`, {
    hint: `Compile ${binaryName(host)} again, from this commit`,
  });
}

function repositoryOf(text: string | undefined): string {
  if (text !== undefined && /^[\w.-]+\/[\w.-]+$/.test(text) && !text.startsWith("OWNER/")) return text;
  throw new RepriseError("usage", `Cannot release for the repository ${JSON.stringify(text ?? null)}`, {
    hint: "Name it: --repository OWNER/NAME",
  });
}

if (import.meta.main) await runScript(() => main(Deno.args));

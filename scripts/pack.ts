/**
 * `deno task pack`: the npm packages as tarballs in dist/npm, the launcher and the binary for this platform.
 *
 * `--target all` packs all platforms, `--binaries DIR` takes finished executables instead of compiling them, `--licenses
 * FILE` adds the licenses of the packages in them, which `deno task release` writes. If the official runtime of Deno is
 * out of reach, the runtime comes from npm (Linux x64). npm refuses to publish such packages, and those of a set without
 * all platforms: they are private.
 *
 * @module
 */
import { join, relative, resolve } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { counted } from "../src/domain/text.ts";
import { buildTestBinary } from "./binary.ts";
import { build } from "./compile/build.ts";
import { binaryName, hostTarget, parseTarget, type Target, TARGETS } from "./compile/targets.ts";
import { exists } from "./npm_packages.ts";
import { identityOf, type PackageFacts } from "./pack/manifests.ts";
import { packLauncher, packPlatform, removeTarballs } from "./pack/tarballs.ts";
import { outputOf, run } from "./process.ts";
import { parseFlags, runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const USAGE =
  "deno task pack [--target PLATFORM | --target all] [--binaries DIR] [--licenses FILE] [--repository URL] [--private] " +
  "[--runtime-from-npm] [--out DIR]";
const FLAGS = {
  target: { type: "string" },
  binaries: { type: "string" },
  licenses: { type: "string" },
  repository: { type: "string" },
  private: { type: "boolean" },
  "runtime-from-npm": { type: "boolean" },
  out: { type: "string" },
} as const;

/** Executables by target, and the origin of their runtime. */
interface Binaries {
  readonly paths: ReadonlyMap<Target, string>;
  /** True if a runtime came from an npm package that is not Deno's. */
  readonly isRuntimeFromNpm: boolean;
}

/**
 * Runs the command line given in `args`.
 *
 * @throws {RepriseError} `usage` for an unknown flag, a missing executable or one of another version; else as
 * {@linkcode build} and {@linkcode packLauncher} do.
 */
async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, FLAGS, USAGE);
  const targets = targetsOf(flags.target);
  const out = flags.out === undefined ? join(ROOT, "dist", "npm") : resolve(flags.out);
  const identity = identityOf(Deno.readTextFileSync(join(ROOT, "deno.json")));
  const work = Deno.makeTempDirSync({ prefix: "reprise-pack-" });
  try {
    const binaries = flags.binaries === undefined
      ? await compileBinaries(targets, work, flags["runtime-from-npm"] ?? false)
      : finishedBinaries(targets, resolve(flags.binaries));
    await checkVersion(binaries, identity.version);
    const isComplete = targets.length === Object.keys(TARGETS).length;
    const isPrivate = binaries.isRuntimeFromNpm || !isComplete || (flags.private ?? false);
    const facts = { ...identity, repository: flags.repository ?? null, isPrivate };
    await packAll(facts, binaries, flags.licenses === undefined ? null : resolve(flags.licenses), out);
  } finally {
    Deno.removeSync(work, { recursive: true });
  }
  return 0;
}

/** Returns the targets of `--target`; without it, that of this machine. */
function targetsOf(flag: string | undefined): readonly Target[] {
  if (flag === "all") return Object.keys(TARGETS) as Target[];
  if (flag !== undefined) return [parseTarget(flag)];
  const host = hostTarget();
  if (host !== null) return [host];
  throw new RepriseError("usage", `Cannot pack for ${Deno.build.target}: no package is for this platform`, {
    hint: `Add --target with one of ${Object.keys(TARGETS).join(", ")}`,
  });
}

/** Returns the executables in `directory`, which have the names that `deno task compile --target` gives them. */
function finishedBinaries(targets: readonly Target[], directory: string): Binaries {
  const paths = new Map(targets.map((target) => [target, join(directory, binaryName(target))]));
  const missing = [...paths.values()].filter((path) => !exists(path));
  if (missing.length === 0) return { paths, isRuntimeFromNpm: false };
  throw new RepriseError("usage", `Cannot pack: there is no file ${missing.join(", ")}`, {
    hint: "Compile it with: deno task compile --target PLATFORM",
  });
}

/** Compiles an executable for each target into `directory`. */
async function compileBinaries(
  targets: readonly Target[],
  directory: string,
  runtimeFromNpm: boolean,
): Promise<Binaries> {
  const paths = new Map<Target, string>();
  let isRuntimeFromNpm = false;
  for (const target of targets) {
    const out = join(directory, binaryName(target));
    if (runtimeFromNpm || !await compileOfficially(target, out)) {
      if (target !== "linux-x64" || hostTarget() !== target) {
        throw new RepriseError(
          "usage",
          `Cannot take the runtime for ${target} from npm: only for linux-x64`,
          {
            hint: "Leave --runtime-from-npm out",
          },
        );
      }
      paths.set(target, await buildTestBinary(ROOT));
      isRuntimeFromNpm = true;
    } else paths.set(target, out);
  }
  return { paths, isRuntimeFromNpm };
}

/**
 * Compiles with the official runtime.
 *
 * @returns false if it is out of reach, and the runtime from npm can replace it.
 */
async function compileOfficially(target: Target, out: string): Promise<boolean> {
  const isHost = target === hostTarget();
  try {
    await build({ root: ROOT, out, target: isHost ? null : target, runtimeFromNpm: false, say });
    return true;
  } catch (error) {
    const isUnreachable = error instanceof RepriseError && error.code === "network_failed";
    if (!isUnreachable || !isHost || target !== "linux-x64") throw error;
    say(error.message);
    say("Using the runtime from npm instead. npm refuses to publish the packages");
    return false;
  }
}

/** Starts the executable for this machine, if there is one, and compares its version. */
async function checkVersion({ paths }: Binaries, version: string): Promise<void> {
  const host = hostTarget();
  const path = host === null ? undefined : paths.get(host);
  if (path === undefined) return;
  const finished = await run(path, ["--version"]);
  if (finished.code === 0 && finished.stdout.trim() === version) return;
  throw new RepriseError(
    "usage",
    `Cannot pack ${path}: its --version prints "${outputOf(finished)}", deno.json says ${version}`,
    { hint: "Compile it again" },
  );
}

async function packAll(
  facts: PackageFacts,
  { paths }: Binaries,
  licenses: string | null,
  out: string,
): Promise<void> {
  removeTarballs(facts.name, out);
  const tarballs = [await packLauncher(ROOT, facts, [...paths.keys()], out)];
  for (const [target, path] of paths) {
    tarballs.push(await packPlatform(ROOT, facts, target, path, licenses, out));
  }
  for (const tarball of tarballs) {
    say(`Packed ${relative(Deno.cwd(), tarball)} (${(Deno.statSync(tarball).size / 1e6).toFixed(1)} MB)`);
  }
  say(
    `${counted(tarballs.length, "package")} of ${facts.name} ${facts.version}${
      facts.isPrivate ? ", private" : ""
    }`,
  );
}

if (import.meta.main) await runScript(() => main(Deno.args));

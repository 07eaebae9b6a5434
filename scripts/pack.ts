/**
 * `deno task pack`: the npm packages as tarballs in dist/npm, the launcher and the binary for this platform.
 *
 * `--binaries DIR` packs the executables in a folder, named as `deno task compile --target PLATFORM` names them, and
 * `--out DIR` names another folder for the tarballs. Packages of a set without all platforms are private.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { counted } from "../src/domain/text.ts";
import { buildTestBinary } from "./binary.ts";
import { binaryName, executableName, hostTarget, type Target, TARGETS } from "./compile/targets.ts";
import { exists } from "./npm_packages.ts";
import { identityOf, launcherManifest, LICENSES, type Manifest, platformManifest } from "./pack/manifests.ts";
import { outputOf, run } from "./process.ts";
import { parseFlags, runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const FLAGS = { binaries: { type: "string" }, out: { type: "string" } } as const;

/** Executables by their targets. */
export type Executables = ReadonlyMap<Target, string>;

/** Returns the executables in a folder. */
export function executablesIn(directory: string): Executables {
  const targets = Object.keys(TARGETS) as Target[];
  const paths = targets.map((target) => [target, join(directory, binaryName(target))] as const);
  return new Map(paths.filter(([, path]) => exists(path)));
}

/**
 * Packs the launcher and `executables` into the folder `out`. Tarballs of these packages that are there are removed.
 *
 * @param licenses The file with the licenses of the packages in the executables; `null` leaves it out.
 * @throws {RepriseError} `usage` if there are no executables or the one for this machine has another version,
 * `unexpected` if npm fails.
 */
export async function packAll(executables: Executables, licenses: string | null, out: string): Promise<void> {
  const identity = identityOf(Deno.readTextFileSync(join(ROOT, "deno.json")));
  await checkVersion(executables, identity.version);
  const targets = [...executables.keys()];
  const facts = { ...identity, isPrivate: targets.length < Object.keys(TARGETS).length };
  Deno.mkdirSync(out, { recursive: true });
  const prefix = `${identity.name.slice(1).replace("/", "-")}-`;
  for (const { name } of [...Deno.readDirSync(out)]) {
    if (name.startsWith(prefix) && name.endsWith(".tgz")) Deno.removeSync(join(out, name));
  }
  const sources = ["npm/.", "python", "README.md", "LICENSE"].map((path) => `${ROOT}/${path}`);
  await pack(launcherManifest(facts, targets), out, (to) => command("cp", ["-R", ...sources, to]));
  for (const [target, path] of executables) {
    const manifest = platformManifest(facts, target);
    await pack(manifest, out, async (to) => {
      Deno.copyFileSync(path, join(to, executableName(target)));
      Deno.chmodSync(join(to, executableName(target)), 0o755);
      await command("cp", [join(ROOT, "LICENSE"), to]);
      if (licenses !== null) Deno.copyFileSync(licenses, join(to, LICENSES));
      const text = `# ${manifest.name}\n\n${
        manifest["description"]
      }. Install \`${facts.name}\`, which finds it.\n`;
      Deno.writeTextFileSync(join(to, "README.md"), text);
    });
  }
  say(
    `Packed ${counted(targets.length + 1, "package")} of ${facts.name} ${facts.version}${
      facts.isPrivate ? ", private" : ""
    } in ${out}`,
  );
}

/**
 * Runs a program.
 *
 * @returns its stdout.
 * @throws {RepriseError} `unexpected` if it fails.
 */
export async function command(program: string, args: readonly string[], cwd = ROOT): Promise<string> {
  const finished = await run(program, args, { cwd });
  if (finished.code === 0) return finished.stdout;
  throw new RepriseError("unexpected", `${program} ${args[0]} failed: ${outputOf(finished)}`);
}

/** Starts the executable for this machine, if there is one, and compares its version. */
async function checkVersion(executables: Executables, version: string): Promise<void> {
  const host = hostTarget();
  const path = host === null ? undefined : executables.get(host);
  const printed = path === undefined ? version : outputOf(await run(path, ["--version"]));
  if (executables.size > 0 && printed === version) return;
  const problem = path === undefined ? "there is no executable" : `${path} prints the version "${printed}"`;
  throw new RepriseError("usage", `Cannot pack version ${version}: ${problem}`, {
    hint: "Compile it with: deno task compile --target PLATFORM --out DIR/reprise-PLATFORM",
  });
}

/** Packs a folder that `fill` has filled. */
async function pack(
  manifest: Manifest,
  out: string,
  fill: (directory: string) => Promise<unknown>,
): Promise<void> {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-pack-" });
  try {
    await fill(directory);
    Deno.writeTextFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    await command("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", out, directory]);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, FLAGS, "deno task pack [--binaries DIR] [--out DIR]");
  const host = hostTarget();
  const executables = flags.binaries !== undefined
    ? executablesIn(resolve(flags.binaries))
    : new Map(host === null ? [] : [[host, await buildTestBinary(ROOT)]]);
  await packAll(executables, null, resolve(flags.out ?? join(ROOT, "dist/npm")));
  return 0;
}

if (import.meta.main) await runScript(() => main(Deno.args));

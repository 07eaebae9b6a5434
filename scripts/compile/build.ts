/** Compiles the binary. */
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { RepriseError } from "../../src/domain/errors.ts";
import { copyWorkspace } from "../demo/scene.ts";
import { type Finished, outputOf, run } from "../process.ts";
import { PRICE_PACKAGE, priceListModule } from "./price_list.ts";
import { officialUrl, whyUnreachable } from "./official_runtime.ts";
import { RUNTIME_VERSION, runtimeFromNpm } from "./runtime_from_npm.ts";
import type { PartName } from "../../src/cli/start/begin.ts";
import { codeFile, scriptFile, type ScriptName, ZOD_MODULES } from "../../src/cli/start/embedded_script.ts";
import { withSum } from "../../src/cli/start/executable_sum.ts";
import { withFiles } from "../../src/cli/start/part_files.ts";
import { hostTarget, type Target, TARGETS } from "./targets.ts";
import { answeringServer, warmUpCalls } from "./warm_up_calls.ts";

/** The binary to build. */
export interface BuildOptions {
  /** The checkout to build; an absolute path. */
  readonly root: string;
  /** True for a program of one file, `main.ts`, that a bench compares with. @default {false} */
  readonly plain?: boolean;
  /** The path of the executable; absolute. */
  readonly out: string;
  /** `null` is the platform we run on. */
  readonly target: Target | null;
  /** Take the runtime from npm at once, and not only if Deno's server cannot be reached; Linux x64 only. */
  readonly runtimeFromNpm: boolean;
  /** Reports each step in a line. */
  readonly say: (line: string) => void;
}

/** The message that `deno compile` ends with when the host of the runtimes cannot be reached. */
const UNREACHABLE =
  /error sending request|dns error|client error \(Connect\)|connection (refused|reset)|timed out/i;

/** Folder of the entries of the program's parts. */
const START = "src/cli/start";

/** Entry of the executable in its bundle. */
const ENTRY = "main.js";

/** Parts of the program, each a script of its own. */
const PARTS: readonly PartName[] = ["all", "listing", "playing", "running", "viewing"];

/**
 * Scripts in the executable: the parts, the price list that they load when a cost is shown, and zod, which they load when
 * a schema is used.
 */
const SCRIPTS: readonly ScriptName[] = [...PARTS, "prices", "zod"];

/** Modules that a part lacks, as its files import them: calls that need them run with the whole program. */
const LEFT_OUT: Readonly<Partial<Record<ScriptName, readonly string[]>>> = {
  playing: ["./run_recording.ts"],
  running: ["./run_recording.ts", "./compared_send.ts"],
  viewing: ["../transcript/markdown.ts", "../html/page_file.ts", "../html/session_page.ts"],
};

/** Returns the modules that the executable is bundled from, relative to the root. */
export function bundleEntries(): string[] {
  return ["compiled", ...SCRIPTS].map((name) => `${START}/${name}.ts`);
}

/** Flags of V8 in the executable. */
export const V8_FLAGS: readonly string[] = [
  // The first error of a process is created 1.3 ms faster, and even a call without a problem creates one: that
  // config.json is missing.
  "--no-enable-lazy-source-positions",
  // Loading fills less than this; the collections on the way would cost 4 ms of a run. In MB.
  "--min-semi-space-size=16",
  // By itself V8 lets the young generation grow to 96 MB, mostly garbage in a long session. In MB.
  "--max-semi-space-size=16",
];

/** Message of a binary whose runtime reads another format than its compiler wrote. */
const OTHER_FORMAT = "Could not find standalone binary section";

/**
 * Bundles the program, compiles it into one executable, tries it where it can run here, and puts it at `out` in one
 * step.
 *
 * @throws {RepriseError} `network_failed` when the runtime cannot be downloaded, `usage` for a target that npm has no
 * runtime for, `unexpected` when bundling or compiling fails.
 */
export async function build(options: BuildOptions): Promise<void> {
  const { target, out, say } = options;
  if (options.runtimeFromNpm && (target ?? hostTarget()) !== "linux-x64") {
    throw new RepriseError(
      "usage",
      `Cannot take the runtime from npm for ${target ?? Deno.build.target}: npm has it for linux-x64 only`,
      {
        hint: "Leave --runtime-from-npm out, or add --target linux-x64",
      },
    );
  }
  Deno.mkdirSync(join(options.root, "dist"), { recursive: true });
  // Several builds may run in one checkout, and a binary that is running cannot be overwritten.
  const workDirectory = Deno.makeTempDirSync({ dir: join(options.root, "dist"), prefix: ".build-" });
  try {
    const runtime = await runtimeVariables(options);
    const bundles = join(workDirectory, "bundle");
    const runsHere = target === null || target === hostTarget();
    const parts = options.plain ? null : join(workDirectory, "parts");
    if (parts === null) await bundleOne(options, ["main.ts", "--outdir", bundles]);
    else {
      await bundle(options, bundles, parts);
      if (runsHere) await addCompiledCode(options, { parts, workDirectory, runtime });
      else say(`Left out compiled code, which only ${target} itself can make: calls take longer to start`);
    }
    const fresh = join(workDirectory, target === "windows-x64" ? "reprise.exe" : "reprise");
    const isForLinux = (target ?? hostTarget())?.startsWith("linux-") === true;
    if (parts !== null && !isForLinux) {
      for (const { name } of Deno.readDirSync(parts)) Deno.renameSync(join(parts, name), join(bundles, name));
    }
    await compile(options, { directory: bundles, out: fresh, runtime });
    if (parts !== null && isForLinux) await putAfterImage(fresh, parts);
    if (runsHere) await tryBinary(fresh);
    putInPlace(fresh, out);
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
  say(`Compiled ${out} (${(Deno.statSync(out).size / 1e6).toFixed(1)} MB)`);
}

/** Runs Deno `RUNTIME_VERSION`, whatever version runs this script: the binary's runtime reads what its own version wrote. */
function runCompiler(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Finished> {
  const [command, ...first] = Deno.version.deno === RUNTIME_VERSION
    ? [Deno.execPath()] as const
    : ["npx", "-y", `deno@${RUNTIME_VERSION}`] as const;
  // 2.7 trusts only its own list of authorities by default; networks with a proxy need the system's as well.
  return run(command, [...first, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { NO_COLOR: "1", DENO_TLS_CA_STORE: "mozilla,system", ...env },
  });
}

/** Bundles the entry of the executable into `directory`, and the scripts of its parts into `parts`. */
async function bundle(options: BuildOptions, directory: string, parts: string): Promise<void> {
  await bundleOne(options, [`${START}/compiled.ts`, "--code-splitting", "--outdir", directory]);
  Deno.renameSync(join(directory, "compiled.js"), join(directory, ENTRY));
  for (const name of SCRIPTS) {
    const path = join(parts, scriptFile(name));
    const leftOut = name === "zod" ? [] : [...ZOD_MODULES, ...LEFT_OUT[name] ?? []];
    const left = leftOut.flatMap((module) => ["--external", module]);
    const imports = name === "prices" ? ["--import-map", putPriceList(directory)] : [];
    await bundleOne(options, [`${START}/${name}.ts`, "--format", "cjs", ...left, ...imports, "-o", path]);
    const script = Deno.readTextFileSync(path);
    const unknown = LEFT_OUT[name]?.find((module) => !script.includes(module));
    if (unknown !== undefined) throw new TypeError(`The part ${name} imports no ${unknown} to leave out`);
    requireLeftOut(name, Deno.readTextFileSync(path));
    // Notices of licences at the end must not take the bracket with them.
    Deno.writeTextFileSync(path, `(function (require, module) {${script}\n})`);
    // The file is there even without code: the name of a missing file could be taken by another one.
    Deno.writeFileSync(join(parts, codeFile(name)), new Uint8Array());
  }
  options.say(`Bundled the program with Deno ${RUNTIME_VERSION}`);
}

/**
 * Requires a part to import each module that it lacks: a module that was moved would be in it, unnoticed.
 *
 * @throws {RepriseError} `unexpected` for a module that the part does not import by this name.
 */
export function requireLeftOut(
  name: ScriptName,
  bundled: string,
  modules: readonly string[] = LEFT_OUT[name] ?? [],
): void {
  const stale = modules.find((module) => !bundled.includes(JSON.stringify(module)));
  if (stale === undefined) return;
  throw new RepriseError(
    "unexpected",
    `Cannot leave ${stale} out of the part "${name}": it imports no such module`,
    {
      hint: "Correct LEFT_OUT in scripts/compile/build.ts",
    },
  );
}

/** Puts the price list beside `directory`, and returns the path of the import map that leads to it. */
function putPriceList(directory: string): string {
  Deno.writeTextFileSync(`${directory}-prices.js`, priceListModule());
  const map = `${directory}-prices.json`;
  const library = pathToFileURL(`${directory}-prices.js`).href;
  Deno.writeTextFileSync(map, JSON.stringify({ imports: { [PRICE_PACKAGE]: library } }));
  return map;
}

async function bundleOne(options: BuildOptions, args: readonly string[]): Promise<void> {
  const bundled = await runCompiler(["bundle", "--minify", ...args], { cwd: options.root });
  if (bundled.code !== 0) throw toolFailed(`bundle ${args[0]}`, bundled);
}

/** Compiles {@linkcode ENTRY} with the files in `directory` into the executable `out`. */
async function compile(
  { target }: Pick<BuildOptions, "target">,
  { directory, out, runtime }: {
    readonly directory: string;
    readonly out: string;
    /** Variables that name the runtime. */
    readonly runtime: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const args = [
    "compile",
    // The bundles import nothing from outside: no configuration, lockfile or network has a say any more.
    "--no-config",
    "--no-lock",
    "--no-check",
    // The runtime's cache of compiled code would be a file of predictable name in a temp directory that all users
    // share, trusted without a check: its first writer runs code as the user. Ours is in the executable.
    "--no-code-cache",
    // A recorder learns from `Request.signal` that a client hung up; without this it aborts after every answer.
    "--unstable-no-legacy-abort",
    `--v8-flags=${V8_FLAGS.join(",")}`,
    ...PERMISSION_FLAGS,
    ...(target === null ? [] : ["--target", TARGETS[target]]),
    "--include",
    directory,
    "-o",
    out,
    join(directory, ENTRY),
  ];
  const finished = await runCompiler(args, { env: runtime });
  if (finished.code === 0) return;
  if (UNREACHABLE.test(finished.stderr)) throw runtimeUnreachable(finished);
  throw toolFailed("compile the bundle", finished);
}

/**
 * Returns the variables that make `deno compile` use the runtime from npm, if it is wanted, or if Deno's server cannot be
 * reached; reports that. Only npm's runtime for Linux x64 is known, and `DENORT_BIN` names another.
 */
async function runtimeVariables(
  { target, runtimeFromNpm: isWanted, say }: BuildOptions,
): Promise<Record<string, string>> {
  if (isWanted) {
    const { path, said } = await runtimeFromNpm();
    say(said);
    return { DENORT_BIN: path };
  }
  if ((target ?? hostTarget()) !== "linux-x64" || (Deno.env.get("DENORT_BIN") ?? "") !== "") return {};
  const why = await whyUnreachable(officialUrl("linux-x64"));
  if (why === null) return {};
  try {
    const { path, said } = await runtimeFromNpm();
    say(`Deno's server cannot be reached (${why}). ${said}`);
    return { DENORT_BIN: path };
  } catch (error) {
    // The compiler may have downloaded the runtime before.
    if (error instanceof RepriseError && error.code === "network_failed") return {};
    throw error;
  }
}

/** Puts the files of the parts and a checksum after the image of an executable of Linux. */
async function putAfterImage(executable: string, parts: string): Promise<void> {
  const names = Array.from(Deno.readDirSync(parts), ({ name }) => name).sort();
  const files = new Map(names.map((name) => [name, Deno.readFileSync(join(parts, name))]));
  const pieces = withSum(withFiles(Deno.readFileSync(executable), files));
  await Deno.writeFile(executable, new Blob(pieces).stream());
}

/**
 * Adds the code that V8 compiles in calls of the program, in the runtime that the executable will have. Each call adds
 * to the code of those before it.
 */
async function addCompiledCode(
  options: BuildOptions,
  { parts, workDirectory, runtime }: {
    readonly parts: string;
    readonly workDirectory: string;
    readonly runtime: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const directory = join(workDirectory, "warm-up");
  await bundleOne(options, ["scripts/compile/warm_up.ts", "-o", join(directory, ENTRY)]);
  const program = join(workDirectory, Deno.build.os === "windows" ? "warm-up.exe" : "warm-up.bin");
  await compile({ target: null }, { directory, out: program, runtime });
  const home = join(workDirectory, "home");
  const workspace = join(workDirectory, "workspace");
  Deno.mkdirSync(home);
  await copyWorkspace(workspace);
  await using server = answeringServer(options.root);
  const env = { HOME: home, REPRISE_HOME: home, NO_COLOR: "1", OPENAI_API_KEY: "sk-none" };
  for (const [part, ...args] of warmUpCalls(options.root, workspace, server.baseUrl)) {
    const finished = await run(program, [parts, part, ...args], { cwd: workDirectory, env });
    if (finished.code !== 0) throw toolFailed(`warm up with ${args.join(" ")}`, finished);
  }
}

/** Moves the finished executable `fresh` to `out` in one step, and creates the folder of `out` if it is missing. */
export function putInPlace(fresh: string, out: string): void {
  Deno.mkdirSync(dirname(out), { recursive: true });
  Deno.renameSync(fresh, out);
}

/** Starts the new executable once: a runtime of another version builds well and fails at its first start. */
async function tryBinary(path: string): Promise<void> {
  const tried = await run(path, ["--version"]);
  if (tried.code === 0) return;
  if (tried.stderr.includes(OTHER_FORMAT)) {
    throw new RepriseError(
      "unexpected",
      `Cannot use the compiled binary: the runtime is not the one of Deno ${RUNTIME_VERSION}`,
      {
        hint: "Set DENORT_BIN to the denort of exactly this Deno version, or unset it",
      },
    );
  }
  throw toolFailed("start the compiled binary with --version", tried);
}

function runtimeUnreachable(finished: Finished): RepriseError {
  const line = finished.stderr.split("\n").find((text) => UNREACHABLE.test(text)) ?? "";
  return new RepriseError(
    "network_failed",
    `Cannot download the runtime of Deno ${RUNTIME_VERSION}: ${line.trim().replace(/^\d+: /, "")}`,
    {
      hint: "Set DENORT_BIN to a denort of this version, or pass --runtime-from-npm (Linux x64)",
    },
  );
}

function toolFailed(what: string, finished: Finished): RepriseError {
  return new RepriseError("unexpected", `Cannot ${what}: exit code ${finished.code}\n${outputOf(finished)}`);
}

/**
 * The permissions compiled into the binary, as flags of `deno compile`: all of them. With any fewer, Deno resolves each
 * path before the kernel gets it, and a directory that is exchanged for a link in between leads a write outside of the
 * workspace. docs/guarantees.md says why.
 */
const PERMISSION_FLAGS: readonly string[] = ["--allow-all"];

/**
 * Compiles the binary.
 *
 * @module
 */
import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { type Finished, outputOf, run } from "../process.ts";
import { COMPILER_VERSION, runtimeFromNpm } from "./runtime_from_npm.ts";
import { hostTarget, type Target, TARGETS } from "./targets.ts";

/** The binary to build. */
export interface BuildOptions {
  /** The checkout that holds `main.ts`; an absolute path. */
  readonly root: string;
  /** The path of the executable; absolute. */
  readonly out: string;
  /** `null` is the platform we run on. */
  readonly target: Target | null;
  /** Take the runtime from npm, with the Deno that it belongs to; Linux x64 only. */
  readonly runtimeFromNpm: boolean;
  /** Reports each step in a line. */
  readonly say: (line: string) => void;
}

/** The message that `deno compile` ends with when the host of the runtimes cannot be reached. */
const UNREACHABLE =
  /error sending request|dns error|client error \(Connect\)|connection (refused|reset)|timed out/i;

/** Message of a binary whose runtime reads another format than its compiler wrote. */
const OTHER_FORMAT = "Could not find standalone binary section";

/**
 * Bundles main.ts into chunks, compiles them into one executable, tries it where it can run here, and puts it at
 * `out` in one step.
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
    const chunks = join(workDirectory, "bundle");
    await bundle(options, chunks);
    const fresh = join(workDirectory, target === "windows-x64" ? "reprise.exe" : "reprise");
    await compile(options, chunks, fresh);
    if (target === null || target === hostTarget()) await tryBinary(fresh);
    Deno.renameSync(fresh, out);
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
  say(`Compiled ${out} (${(Deno.statSync(out).size / 1e6).toFixed(1)} MB)`);
}

/** Chunks by dynamic import: a verb loads only what it needs, which is what makes start-up short. */
async function bundle(options: BuildOptions, chunks: string): Promise<void> {
  const bundled = await run(Deno.execPath(), [
    "bundle",
    "--minify",
    "--code-splitting",
    "--outdir",
    chunks,
    "main.ts",
  ], { cwd: options.root, env: { NO_COLOR: "1" } });
  if (bundled.code !== 0) throw toolFailed("bundle main.ts", bundled);
  options.say(
    `Bundled main.ts into ${[...Deno.readDirSync(chunks)].length} chunks with Deno ${Deno.version.deno}`,
  );
}

async function compile(options: BuildOptions, chunks: string, out: string): Promise<void> {
  const args = [
    "compile",
    // The chunks import nothing from outside: no configuration, lockfile or network has a say any more.
    "--no-config",
    "--no-lock",
    "--no-check",
    // The cache of compiled code would be a file of predictable name in a temp directory that all users share,
    // trusted without a check: whoever writes it first runs code as the user, for 2 ms saved.
    "--no-code-cache",
    // A recorder learns from `Request.signal` that a client hung up; without this it aborts after every answer.
    "--unstable-no-legacy-abort",
    ...PERMISSION_FLAGS,
    ...(options.target === null ? [] : ["--target", TARGETS[options.target]]),
    "--include",
    chunks,
    "-o",
    out,
    join(chunks, "main.js"),
  ];
  const finished = options.runtimeFromNpm
    ? await compileWithNpmRuntime(options, args)
    : await run(Deno.execPath(), args, { env: { NO_COLOR: "1" } });
  if (finished.code === 0) return;
  if (UNREACHABLE.test(finished.stderr)) throw runtimeUnreachable(finished);
  throw toolFailed("compile the bundle", finished);
}

async function compileWithNpmRuntime(options: BuildOptions, args: readonly string[]): Promise<Finished> {
  const runtime = await runtimeFromNpm();
  options.say(`${runtime.said}; compiling with npm package deno@${COMPILER_VERSION}`);
  return await run("npx", ["-y", `deno@${COMPILER_VERSION}`, ...args], {
    env: { NO_COLOR: "1", DENORT_BIN: runtime.path },
  });
}

/** Starts the new executable once: a runtime of another version builds well and fails at its first start. */
async function tryBinary(path: string): Promise<void> {
  const tried = await run(path, ["--version"]);
  if (tried.code === 0) return;
  if (tried.stderr.includes(OTHER_FORMAT)) {
    throw new RepriseError(
      "unexpected",
      `Cannot use the compiled binary: the runtime is not the one of Deno ${Deno.version.deno}`,
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
    `Cannot download the runtime of Deno ${Deno.version.deno}: ${line.trim().replace(/^\d+: /, "")}`,
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
 * workspace. docs/security.md says what guards each kind of access instead.
 */
export const PERMISSION_FLAGS: readonly string[] = ["--allow-all"];

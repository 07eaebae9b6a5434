/**
 * The executables that are measured: reprise, and programs to compare it with, of the same runtime, made by the same
 * bundler and compiler with the same flags.
 *
 * @module
 */
import { join } from "node:path";
import { build } from "../scripts/compile/build.ts";
import { hostTarget } from "../scripts/compile/targets.ts";
import { sha256Hex } from "../src/domain/hash.ts";
import { hashOfInputs, isUpToDate, writeStamp } from "../scripts/gate/stamp.ts";
import type { BenchContext } from "./bench.ts";

/** Where the executables are. */
export interface Binaries {
  readonly reprise: string;
  readonly empty: string;
}

const EMPTY_PROGRAM = "Deno.exit(0);\n";

/** Both executables as of the present sources, compiled where the cache has older ones; the same all through a call. */
export async function makeBinaries(context: BenchContext): Promise<Binaries> {
  return {
    reprise: await makeBinary(context, { name: "reprise", root: context.root, source: "" }),
    empty: await makeProgram(context, { name: "empty", source: EMPTY_PROGRAM }),
  };
}

/** The text of a program, which imports nothing, as an executable that is made just like reprise. */
export async function makeProgram(
  context: BenchContext,
  { name, source }: { readonly name: string; readonly source: string },
): Promise<string> {
  const root = join(context.cacheDirectory, `${name}-program`);
  Deno.mkdirSync(root, { recursive: true });
  Deno.writeTextFileSync(join(root, "main.ts"), source);
  return await makeBinary(context, { name, root, source });
}

async function makeBinary(
  context: BenchContext,
  { name, root, source }: { readonly name: string; readonly root: string; readonly source: string },
): Promise<string> {
  const own = join(context.workDirectory, `bin-${name}`);
  if (exists(own)) return own;
  const out = join(context.cacheDirectory, Deno.build.os === "windows" ? `${name}.exe` : name);
  const stamp = `${out}.stamp`;
  const configured = Deno.env.get("DENORT_BIN") ?? "";
  const runtimeFromNpm = configured === "" && hostTarget() === "linux-x64";
  const runtime = runtimeFromNpm ? "npm" : `official ${configured}`;
  const inputs = hashOfInputs(context.root, `${runtime} ${sha256Hex(source)}`);
  if (!isUpToDate(stamp, inputs, out)) {
    await build({ root, out, target: null, runtimeFromNpm, frozen: false, say: context.say });
    writeStamp(stamp, inputs, out);
  }
  // Other calls may compile anew meanwhile: under a name of its own the measured file stays what it is.
  Deno.linkSync(out, own);
  return own;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

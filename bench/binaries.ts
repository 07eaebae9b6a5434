/**
 * The executables that are measured: reprise, and programs to compare it with, of the same runtime, made by the same
 * bundler and compiler with the same flags.
 *
 * @module
 */
import { join } from "node:path";
import { buildIfStale } from "../scripts/binary.ts";
import { sha256Hex } from "../src/domain/hash.ts";
import type { BenchContext } from "./bench.ts";

/** Paths of the executables. */
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
async function makeProgram(
  context: BenchContext,
  { name, source }: { readonly name: string; readonly source: string },
): Promise<string> {
  const root = join(context.cacheDirectory, `${name}-program`);
  Deno.mkdirSync(root, { recursive: true });
  Deno.writeTextFileSync(join(root, "main.ts"), source);
  return await makeBinary(context, { name, root, source });
}

/** The executable of `bench/bare_server.ts`. */
export async function bareServer(context: BenchContext): Promise<string> {
  const source = Deno.readTextFileSync(join(context.root, "bench", "bare_server.ts"));
  return await makeProgram(context, { name: "bare-server", source });
}

async function makeBinary(
  context: BenchContext,
  { name, root, source }: { readonly name: string; readonly root: string; readonly source: string },
): Promise<string> {
  const own = join(context.workDirectory, `bin-${name}`);
  if (exists(own)) return own;
  const out = join(context.cacheDirectory, Deno.build.os === "windows" ? `${name}.exe` : name);
  await buildIfStale({
    root,
    plain: source !== "",
    out,
    stamp: `${out}.stamp`,
    inputsOf: context.root,
    salt: sha256Hex(source),
    say: context.say,
  });
  // Other calls may compile again meanwhile: under a name of its own the measured file does not change.
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

/**
 * `deno task compile`: one executable of the whole program.
 *
 * `--target PLATFORM` builds for another platform, `--out FILE` puts it elsewhere than dist/, and
 * `--runtime-from-npm` takes the runtime from npm at once (Linux x64), as a build does that cannot reach Deno's server.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { build } from "./compile/build.ts";
import { binaryName, parseTarget, type Target } from "./compile/targets.ts";
import { parseFlags, runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const USAGE = "deno task compile [--target PLATFORM] [--runtime-from-npm] [--out FILE]";
const FLAGS = {
  target: { type: "string" },
  out: { type: "string" },
  "runtime-from-npm": { type: "boolean" },
} as const;

/**
 * Runs the command line given in `args`.
 *
 * @throws {RepriseError} as {@linkcode build} does, and `usage` for an unknown flag.
 */
async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, FLAGS, USAGE);
  const target = flags.target === undefined ? null : parseTarget(flags.target);
  await build({
    root: ROOT,
    out: flags.out === undefined ? join(ROOT, "dist", defaultName(target)) : resolve(flags.out),
    target,
    runtimeFromNpm: flags["runtime-from-npm"] ?? false,
    say,
  });
  return 0;
}

function defaultName(target: Target | null): string {
  if (target === null) return Deno.build.os === "windows" ? "reprise.exe" : "reprise";
  return binaryName(target);
}

if (import.meta.main) await runScript(() => main(Deno.args));

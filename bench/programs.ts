/** Programs that are run to their end, and what they take. */
import { join } from "node:path";
import { exists, installPackages } from "../scripts/npm_packages.ts";
import { complain } from "../scripts/terminal.ts";
import type { Context } from "./report.ts";

/** A command; `env` is its whole environment. */
export interface Start {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The command of a program without input. */
export function commandOf({ program, args, env, ...where }: Start, stderr: "piped" | "null"): Deno.Command {
  const environment = env === undefined ? {} : { clearEnv: true, env: { ...env } };
  return new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr,
    ...where,
    ...environment,
  });
}

/**
 * Returns the stdout of a program.
 *
 * @throws {Error} when its exit code is not 0.
 */
export function outputOf(start: Start): string {
  const { code, stdout, stderr } = commandOf(start, "piped").outputSync();
  if (code === 0) return new TextDecoder().decode(stdout);
  const command = [start.program, ...start.args.slice(0, 6)].join(" ");
  throw new Error(`Cannot measure "${command}": exit code ${code}\n${new TextDecoder().decode(stderr)}`);
}

/** Compiles `bench/NAME.c` and returns the path of the program. */
export function compileC({ root, work }: Context, name: string): string {
  const program = join(work, name);
  outputOf({ program: "cc", args: ["-O2", "-o", program, join(root, "bench", `${name}.c`)] });
  return program;
}

/** Time of a program in milliseconds, and the most memory that it or a child ever held, in megabytes. */
export interface Taken {
  readonly ms: number;
  readonly mb: number;
}

/** Returns a function that runs a program to its end, which must be exit code 0. */
export function meterOf(context: Context): (start: Start) => Taken {
  const meter = compileC(context, "peak");
  // Writes that the system holds back would delay the first fsync.
  outputOf({ program: "sync", args: [] });
  return (start) => {
    const output = outputOf({ ...start, program: meter, args: [start.program, ...start.args] });
    const [nanoseconds = NaN, kilobytes = NaN] = output.split(" ").map(Number);
    return { ms: nanoseconds / 1e6, mb: kilobytes * 1024 / 1e6 };
  };
}

/** The times, or the memory, of two programs, run by run. */
export function pairOf(what: keyof Taken, own: readonly Taken[] = [], other: readonly Taken[] = []) {
  return { own: own.map((run) => run[what]), other: other.map((run) => run[what]) };
}

/** The result of rows for which {@linkcode npmPackage} returns `null`. */
export const NOT_INSTALLED = "not installed";

/**
 * The `node_modules` of the package `spec`, which is installed once into the cache of the benches, never into the project.
 * `null` if npm cannot install it, or may not, in a smoke run.
 */
export async function npmPackage({ cache, smoke }: Context, spec: string): Promise<string | null> {
  const directory = join(cache, `npm-${spec.replace(/^.*\//, "")}`);
  if (!exists(directory)) {
    if (smoke) return null;
    complain(`Installing ${spec} with npm`);
    const { code } = await installPackages(directory, [spec], ["--ignore-scripts"]);
    if (code !== 0) return null;
  }
  return join(directory, "node_modules");
}

/**
 * Other programs, started and timed the way a shell would wait for them.
 *
 * @module
 */
import { RepriseError } from "../src/domain/errors.ts";
import { timed } from "./timing.ts";

/** Command and environment of a program. */
export interface Start {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The whole environment of the program. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Milliseconds from the start of a program to its end, its output thrown away.
 *
 * @throws {RepriseError} `unexpected` when it ends with another code than 0: the time of a failure says nothing.
 */
export function timeProgram(start: Start): number {
  let code = 0;
  const command = commandOf(start, "null");
  const taken = timed(() => code = command.outputSync().code);
  if (code !== 0) throw failed(start, code, "");
  return taken;
}

/**
 * Returns the stdout of a program.
 *
 * @throws {RepriseError} `unexpected` when it ends with another code than 0.
 */
export function outputOfProgram(start: Start): string {
  const { code, stdout, stderr } = commandOf(start, "piped").outputSync();
  const decoder = new TextDecoder();
  if (code !== 0) throw failed(start, code, decoder.decode(stderr));
  return decoder.decode(stdout);
}

/** True when `program` can be started here. */
export function hasProgram(program: string): boolean {
  try {
    new Deno.Command(program, { args: ["--version"], stdin: "null", stdout: "null", stderr: "null" })
      .outputSync();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Writes what the system holds back to the disk, so that the first fsync of a measurement does not pay for it. */
export function syncDisk(): void {
  if (hasProgram("sync")) timeProgram({ program: "sync", args: [] });
}

function commandOf({ program, args, cwd, env }: Start, output: "null" | "piped"): Deno.Command {
  return new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: output,
    stderr: output,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { clearEnv: true, env: { ...env } }),
  });
}

function failed({ program, args }: Start, code: number, stderr: string): RepriseError {
  const shown = [program, ...args.slice(0, 6)].join(" ");
  return new RepriseError(
    "unexpected",
    `Cannot measure "${shown}": it ended with exit code ${code}\n${stderr}`.trim(),
  );
}

import { Buffer } from "node:buffer";

/** Options of a child process. */
export interface RunOptions {
  readonly cwd?: string;
  /** Variables set on top of ours; `undefined` unsets one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** After this many milliseconds the process gets SIGTERM. */
  readonly timeout?: number;
}

/** The outcome of a child process and its output, decoded as UTF-8. */
export interface Finished {
  /** The exit code; 128 + the signal's number for a process that a signal ended. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with stdin closed and both streams collected. */
export async function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    clearEnv: true,
    env: environment(options.env ?? {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  }).spawn();
  const timer = options.timeout === undefined
    ? undefined
    : setTimeout(() => child.kill("SIGTERM"), options.timeout);
  const { code, stdout, stderr } = await child.output();
  clearTimeout(timer);
  return { code, stdout: Buffer.from(stdout).toString("utf8"), stderr: Buffer.from(stderr).toString("utf8") };
}

/** Both streams of a finished process, for people to read. */
export function outputOf(finished: Finished): string {
  return [finished.stdout.trimEnd(), finished.stderr.trimEnd()].filter((text) => text !== "").join("\n");
}

function environment(changes: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const merged: Record<string, string | undefined> = { ...Deno.env.toObject(), ...changes };
  return Object.fromEntries(
    Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/**
 * Runs the driver, with or without strace, and reads what strace wrote.
 *
 * @module
 */
import assert from "node:assert/strict";

/** One system call of the driver's main thread, after its mark. */
export interface Call {
  readonly name: string;
  /** The path that it names, or the path of its first descriptor. */
  readonly path: string;
  /** The second path of a link or rename. */
  readonly to?: string;
  /** For `openat`: it may create the file. */
  readonly creates: boolean;
  /** For `write` and `sendto`: the start of what is written. */
  readonly data: string;
  /** Number of the call among those of its name on its thread, from the process's start, as strace's `when=` counts. */
  readonly ordinal: number;
}

/** Result of a run of the driver. */
export interface Run {
  readonly success: boolean;
  readonly killed: boolean;
  /** Turns that were acknowledged, by number, with their sums. */
  readonly saved: Map<number, string>;
  /** True when the driver said that the whole operation was done. */
  readonly done: boolean;
  /** Codes of the errors that the driver reported. */
  readonly refused: string[];
  readonly stderr: string;
}

/** A run under strace. */
export interface TracedRun extends Run {
  /** Calls after the mark; empty when the process died before. */
  readonly calls: readonly Call[];
}

const CONFIG = new URL("../../deno.json", import.meta.url).pathname;
/** Path that the driver looks for on disk when its own work begins. */
const DRIVER_MARK = '"/crash-driver-begins"';
const DRIVER = new URL("./driver.ts", import.meta.url).pathname;
const TRACED = [
  "openat",
  "open",
  "creat",
  "write",
  "pwrite64",
  "writev",
  "fsync",
  "fdatasync",
  "link",
  "linkat",
  "unlink",
  "unlinkat",
  "rmdir",
  "rename",
  "renameat",
  "renameat2",
  "mkdir",
  "mkdirat",
  "chmod",
  "fchmod",
  "fchmodat",
  "ftruncate",
  "truncate",
  "sendto",
];

/** True where these tests can run. */
export function hasStrace(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    return new Deno.Command("strace", { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function driverArgs(args: readonly string[]): string[] {
  return ["run", "-A", "--no-check", "--config", CONFIG, DRIVER, ...args];
}

/** Runs the driver. */
export async function runDriver(...args: string[]): Promise<Run> {
  const command = new Deno.Command(Deno.execPath(), { args: driverArgs(args), stdin: "null" });
  return runOf(await command.output());
}

/** Runs the driver under strace. `inject` is one of strace's, such as `fsync:signal=KILL:when=3`. */
export async function traceDriver(args: readonly string[], inject?: string): Promise<TracedRun> {
  const { output, trace } = await traceCommand([Deno.execPath(), ...driverArgs(args)], inject);
  return { ...runOf(output), calls: parseTrace(trace, DRIVER_MARK) };
}

/** Runs any command under strace, and gives back what both said. */
export async function traceCommand(
  command: readonly string[],
  inject?: string,
): Promise<{ readonly output: Deno.CommandOutput; readonly trace: string }> {
  const directory = await Deno.makeTempDir({ prefix: "reprise-trace-" });
  try {
    const [strace, ...args] = straceOf(`${directory}/main`, inject);
    const output = await new Deno.Command(strace, { args: [...args, ...command], stdin: "null" }).output();
    return { output, trace: Deno.readTextFileSync(`${directory}/main`) };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** The command line of strace before that of a traced program. `file` gets the trace. */
export function straceOf(file: string, inject?: string): [string, ...string[]] {
  const traced = ["-e", `trace=${TRACED.join(",")}`];
  const injected = inject === undefined ? [] : ["-e", `inject=${inject}`];
  // Without -f: the main thread alone, where the store works. Others belong to the runtime and its caches.
  return ["strace", "-y", "-s", "80", "-o", file, ...traced, ...injected];
}

function runOf(output: Deno.CommandOutput): Run {
  const decoder = new TextDecoder();
  const saved = new Map<number, string>();
  const refused: string[] = [];
  let done = false;
  for (const line of decoder.decode(output.stdout).split("\n")) {
    const [word, first, sum] = line.split(" ");
    if (word === "saved" && sum !== undefined && sum.length === 64) saved.set(Number(first), sum);
    done ||= word === "done";
    if (word === "refused" && first !== undefined) refused.push(first);
  }
  return {
    success: output.success,
    killed: output.signal === "SIGKILL" || output.code === 137,
    saved,
    done,
    refused,
    stderr: decoder.decode(output.stderr),
  };
}

/** The calls after the one that names `mark`, in order; all of them without a mark. */
export function parseTrace(text: string, mark: string | null): Call[] {
  const counts = new Map<string, number>();
  const calls: Call[] = [];
  let marked = mark === null;
  for (const line of text.split("\n")) {
    const match = /^([a-z0-9_]+)\((.*)/.exec(line);
    if (match === null) continue;
    const [, name, rest] = match as unknown as [string, string, string];
    const ordinal = (counts.get(name) ?? 0) + 1;
    counts.set(name, ordinal);
    if (marked) calls.push(parseCall(name, rest, ordinal));
    if (mark !== null && rest.includes(mark)) marked = true;
  }
  return calls;
}

function parseCall(name: string, rest: string, ordinal: number): Call {
  const byDescriptor = /^\d+<([^>]*)>/.exec(rest)?.[1];
  const strings = Array.from(rest.matchAll(/"((?:[^"\\]|\\.)*)"/g), (match) => match[1] as string);
  const path = byDescriptor ?? strings[0] ?? "";
  return {
    name: name === "creat" ? "open" : name.replace(/at2?$/, ""),
    path,
    ...(byDescriptor === undefined && strings[1] !== undefined ? { to: strings[1] } : {}),
    creates: name === "creat" || rest.includes("O_CREAT"),
    data: byDescriptor === undefined ? "" : strings[0] ?? "",
    ordinal,
  };
}

/** The system call to pass to strace, for a shortened name: the variant differs between runtimes. */
export function variantsOf(name: string): string {
  const variants: Record<string, string> = {
    open: "openat",
    link: "link,linkat",
    unlink: "unlink,unlinkat",
    rename: "rename,renameat,renameat2",
    mkdir: "mkdir,mkdirat",
    chmod: "chmod,fchmodat",
  };
  return variants[name] ?? name;
}

/** Runs `body` with a new directory, and removes it. */
export async function withDirectory(body: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir({ prefix: "reprise-crash-" });
  try {
    await body(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

/** Runs the driver and expects it to end well. */
export async function mustRun(...args: string[]): Promise<Run> {
  const run = await runDriver(...args);
  assert.ok(run.success, run.stderr);
  return run;
}

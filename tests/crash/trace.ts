/** Runs programs under strace, and reads the system calls of their main thread. */

/** One system call of a program's main thread. */
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

/** Calls that change files or tell somebody. */
const CHANGING = [
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
];
const TRACED = [...CHANGING, "sendto"];

/** Runs a command under strace, and returns its output and the trace. */
export async function traceCommand(
  command: readonly string[],
): Promise<{ readonly output: Deno.CommandOutput; readonly trace: string }> {
  const directory = await Deno.makeTempDir({ prefix: "reprise-trace-" });
  try {
    const [strace, ...args] = straceOf(`${directory}/main`);
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

/**
 * Runs a command under strace, which stops it after each call of its main thread that changes something: the files are
 * then as a kill on entry to the next such call leaves them. `atStop` gets the calls after `mark` so far; it returns
 * `false` to kill the command there. Returns all calls after `mark`, and the command's exit code and stderr.
 */
export async function stopAtEach(
  command: readonly string[],
  mark: string | null,
  atStop: (calls: readonly Call[]) => Promise<boolean>,
): Promise<{ readonly calls: readonly Call[]; readonly code: number; readonly stderr: string }> {
  const strace = new Deno.Command("strace", {
    args: [
      ...["-y", "-s", "500", "-e", `trace=${CHANGING.join(",")}`],
      ...["-e", `inject=${CHANGING.join(",")}:signal=STOP`, ...command],
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const parser = new TraceParser(mark);
  let seen = 0;
  let rest = "";
  let stderr = "";
  for await (const text of strace.stderr.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("--- stopped by SIGSTOP")) {
        const isNew = parser.calls.length > seen;
        seen = parser.calls.length;
        const goesOn = !isNew || await atStop(parser.calls);
        const children = Deno.readTextFileSync(`/proc/${strace.pid}/task/${strace.pid}/children`);
        Deno.kill(parseInt(children), goesOn ? "SIGCONT" : "SIGKILL");
      } else if (!parser.take(line) && !/^(?:---|\+\+\+) /.test(line)) stderr += `${line}\n`;
    }
  }
  return { calls: parser.calls, code: (await strace.status).code, stderr };
}

/** The calls after the one that names `mark`, in order; all of them without a mark. */
export function parseTrace(text: string, mark: string | null): readonly Call[] {
  const parser = new TraceParser(mark);
  for (const line of text.split("\n")) parser.take(line);
  return parser.calls;
}

/** Collects the calls after the one that names a mark. */
class TraceParser {
  readonly calls: Call[] = [];
  readonly #counts = new Map<string, number>();
  readonly #mark: string | null;
  #isMarked: boolean;

  constructor(mark: string | null) {
    this.#mark = mark;
    this.#isMarked = mark === null;
  }

  /** Takes a line of strace. @returns false if it shows no call. */
  take(line: string): boolean {
    const [, name, rest] = /^([a-z0-9_]+)\((.*)/.exec(line) ?? [];
    if (name === undefined || rest === undefined) return false;
    const ordinal = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, ordinal);
    if (this.#isMarked) this.calls.push(parseCall(name, rest, ordinal));
    if (this.#mark !== null && rest.includes(this.#mark)) this.#isMarked = true;
    return true;
  }
}

/** Checks if a call changes a file below `root`, or acknowledges something. */
export function isChange({ name, creates, path, data }: Call, root: string): boolean {
  if (name === "write" && /^(?:saved |done)/.test(data)) return true;
  return (name !== "open" || creates) && path.startsWith(root);
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

/** Runs `body` with a new directory, in `dir` if one is given, and removes it. */
export async function withDirectory(
  body: (path: string) => Promise<void>,
  options: { readonly dir?: string } = {},
): Promise<void> {
  const path = await Deno.makeTempDir({ prefix: "reprise-crash-", ...options });
  try {
    await body(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

/** Copies a directory with its modes and hard links. */
export async function copyDirectory(from: string, to: string): Promise<void> {
  const command = new Deno.Command("cp", { args: ["-r", "--preserve=mode,links", from, to] });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

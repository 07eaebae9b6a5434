/**
 * Runs the program as a user does: a process of its own, an empty environment, a home of its own.
 *
 * `REPRISE_BIN` names the compiled binary. Without it a call that needs no process of its own runs in this one, which
 * takes a fifth of the time, and others run the sources through the current Deno.
 *
 * @module
 */
import type { Json } from "./files.ts";

const root = new URL("../../", import.meta.url).pathname;
const binary = Deno.env.get("REPRISE_BIN");

/** The sources as a command line, in front of the program's own arguments. */
export const SOURCES: readonly string[] = [Deno.execPath(), "run", "-A", "--quiet", `${root}main.ts`];
/** The program under test: the binary where one is named, or else the sources. */
export const PROGRAM: readonly string[] = binary === undefined || binary === "" ? SOURCES : [binary];
/** The same as words of a shell's command. */
export const SHELL_PROGRAM = PROGRAM.map((word) => `'${word}'`).join(" ");

/** Outcome of a call. */
export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** All that a call printed. */
export const said = ({ code, stdout, stderr }: Called) => `${code}\n${stdout}${stderr}`;

/** Options of a call. */
export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Content of stdin, then its end. Without it stdin is `/dev/null`. */
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  /** A command that is given the program's own command line as its last arguments, such as `["nice"]`. */
  readonly through?: readonly string[];
}

/** A scratch directory with a home in it; removed at the end. */
export class Sandbox implements AsyncDisposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-test-" }));
  readonly home = `${this.directory}/home`;
  readonly workspace = `${this.directory}/work`;

  constructor() {
    Deno.mkdirSync(this.workspace);
  }

  /** A process that a test left to its signal may write for a moment longer. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let tries = 20;; tries--) {
      try {
        return await Deno.remove(this.directory, { recursive: true });
      } catch (error) {
        if (tries === 0 || error instanceof Deno.errors.NotFound) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Runs the program to its end. */
  async call(args: readonly string[], options: CallOptions = {}): Promise<Called> {
    if (PROGRAM === SOURCES && runsHere(args, options)) return await this.#callHere(args, options);
    const child = this.start(args, { ...options, stdin: options.stdin === undefined ? "null" : "piped" });
    if (options.stdin !== undefined) {
      const { stdin } = options;
      const writer = child.process.stdin.getWriter();
      try {
        await writer.write(typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin);
        await writer.close();
      } catch {
        // A program that ends before it reads is no failure of the test's own.
      }
    }
    return await child.ended();
  }

  async #callHere(args: readonly string[], { env, cwd, stdin = "" }: CallOptions): Promise<Called> {
    const { callHere } = await import("./in_process.ts");
    const called = await callHere({
      args,
      cwd: cwd ?? this.workspace,
      env: { ...this.environment(), ...env },
      stdin: typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin,
    });
    await requireSchema(args, called.stdout);
    return called;
  }

  /** Starts the program and leaves it running. */
  start(
    args: readonly string[],
    options: Omit<CallOptions, "stdin"> & { readonly stdin?: "null" | "piped" } = {},
  ): Started {
    const { through = [] } = options;
    const [command, ...before] = [...through, ...PROGRAM];
    // Its stdout holds stderr too.
    const isTerminal = through.some((word) => /\bscript -/.test(word));
    return new Started(
      new Deno.Command(command as string, {
        args: [...before, ...args],
        cwd: options.cwd ?? this.workspace,
        clearEnv: true,
        env: { ...this.environment(), ...options.env },
        stdin: options.stdin ?? "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn(),
      isTerminal ? [] : args,
    );
  }

  /** The whole environment of a call: nothing of the caller's but what Deno needs to find its cache. */
  environment(): Record<string, string> {
    return {
      HOME: this.directory,
      REPRISE_HOME: this.home,
      PATH: "/usr/bin:/bin",
      // Plugins that this machine has would change which tests of a project run, and in which order.
      PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
      ...(PROGRAM === SOURCES ? denoCache() : {}),
    };
  }

  /** Names of a session's turn files, sorted. */
  turnNames(session: string): string[] {
    return [...Deno.readDirSync(`${this.home}/sessions/${session}/turns`)].map(({ name }) => name).sort();
  }

  /** A session's turn files, parsed. */
  // deno-lint-ignore no-explicit-any
  turns(session: string): any[] {
    const directory = `${this.home}/sessions/${session}/turns`;
    return this.turnNames(session).map((name) => JSON.parse(Deno.readTextFileSync(`${directory}/${name}`)));
  }
}

/** A running call. */
export class Started {
  readonly process: Deno.ChildProcess;
  readonly #args: readonly string[];
  #stdout = "";
  readonly #out: Promise<void>;
  readonly #err: Promise<string>;
  #wake: () => void = () => {};

  constructor(process: Deno.ChildProcess, args: readonly string[]) {
    this.process = process;
    this.#args = args;
    this.#out = this.#read();
    this.#err = new Response(process.stderr).text();
  }

  async #read(): Promise<void> {
    for await (const text of this.process.stdout.pipeThrough(new TextDecoderStream())) {
      this.#stdout += text;
      this.#wake();
    }
    this.#wake();
  }

  /** Text on stdout so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Waits until stdout holds `text`, `times` over; fails when the process ends without it. */
  async printed(text: string, times = 1): Promise<void> {
    let done = false;
    this.#out.then(() => done = true);
    while (this.#stdout.split(text).length <= times) {
      if (done) {
        const { stderr } = await this.ended();
        throw new Error(`The process ended without printing ${text}; it printed: ${this.#stdout}\n${stderr}`);
      }
      await Promise.race([this.#out, new Promise<void>((resolve) => this.#wake = resolve)]);
    }
  }

  /** Waits for the end of the process and of its output. JSON for which the program has no schema is a failure. */
  async ended(): Promise<Called> {
    const [{ code }, stderr] = await Promise.all([this.process.status, this.#err, this.#out]);
    await requireSchema(this.#args, this.#stdout);
    return { code, stdout: this.#stdout, stderr };
  }
}

/** Verbs that end by a signal or that start processes of the program. */
const OF_A_PROCESS: ReadonlySet<string> = new Set(["serve", "record", "test", "certify"]);

/** Returns true if a call tests nothing that only a process has. */
function runsHere(args: readonly string[], { through = [], env }: CallOptions): boolean {
  const isQuick = args.includes("--help") || args[0] === "record" && args.includes("--dry-run");
  return through.length === 0 && env?.TZ === undefined && (isQuick || !OF_A_PROCESS.has(args[0] ?? ""));
}

/** Fails on JSON for which the program has no schema. */
async function requireSchema(args: readonly string[], stdout: string): Promise<void> {
  if (!args.includes("--json")) return;
  const [fault] = (await import("./json_documents.ts")).outputFaults(args, stdout);
  if (fault !== undefined) throw new Error(fault);
}

/** The JSON Lines of a call. */
export function events(called: Called): Json[] {
  return called.stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** The last line of `run --json`. */
export function ending(called: Called): Json {
  const last = events(called).at(-1);
  if (last?.type !== "run.ended") {
    throw new Error(`No run.ended at the end of: ${called.stdout}${called.stderr}`);
  }
  return last;
}

/** The variables with which a Deno whose environment is otherwise empty finds its cache. */
export function denoCache(): Record<string, string> {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  return { DENO_DIR: Deno.env.get("DENO_DIR") ?? `${cache}/deno`, DENO_NO_UPDATE_CHECK: "1" };
}

/** One step of a session test: a call of the program in this process, through ports of its own. */
import { Buffer } from "node:buffer";
import { encodeUtf8 } from "../../domain/bytes.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { type JsonObject, parsedObject, stringMember } from "../../domain/json.ts";
import type { Files } from "../../domain/ports.ts";
import type { SessionStep } from "../../fixture/session/session_file.ts";
import { finishText, type ToolText } from "../../tools/output.ts";
import { killRunningGroups } from "../../tools/shell/process_group.ts";
import { runCommand } from "../../tools/shell/run_command.ts";
import { shell, shellTool } from "../../tools/shell/shell.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Send } from "../../transport/http.ts";
import { isRead } from "../environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { stdinOf } from "../stdin.ts";
import { ALL_VERBS } from "../verbs.ts";
import { main } from "../main.ts";
import { fixturePorts } from "../run/fixture_ports.ts";
import { type onStopSignals, STOP_SIGNALS, type StopSignal } from "../signals.ts";
import type { TextStream } from "../terminal.ts";
import type { TestScratch } from "./scratch.ts";

export interface StepOutcome {
  /** The exit code; after a kill, 128 and the number of the signal. */
  readonly exit: number;
  readonly hung: boolean;
  /** The terminal state of the run; `null` without a run. */
  readonly state: string | null;
  readonly saved: readonly number[];
  readonly requests: readonly SentRequest[];
  /** Its error in one line, else the end of its stderr; paths begin at the virtual root. Empty if both are. */
  readonly said: string;
}

interface StepOptions {
  readonly ports: ProgramPorts;
  readonly scratch: TestScratch;
  readonly fixture: string | null;
  /** The start of its clock, if it has no fixture. */
  readonly clock: string;
  readonly signal: AbortSignal;
}

/** Longer than any step that ends by itself, in milliseconds. */
const STEP_LIMIT_MS = 120_000;
/** From SIGTERM to SIGKILL, in milliseconds: longer than a stopped run waits for its commands. */
const END_GRACE_MS = 20_000;
const SAID_CHARACTERS = 2000;

/** Verbs that send requests. */
const SENDING: ReadonlySet<string> = new Set(["run", "compact"]);

export async function playStep(
  { args: [verb = "", ...args], stdin, kill }: SessionStep,
  { ports, scratch, fixture, clock, signal }: StepOptions,
): Promise<StepOutcome> {
  const step = new StepProcess(ports, { scratch, clock, stdin, kill });
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), STEP_LIMIT_MS);
  let lastResort: ReturnType<typeof setTimeout> | undefined;
  // A run that gets SIGTERM ends the commands of its tools first.
  const end = () => {
    step.signal("SIGTERM");
    lastResort = setTimeout(() => step.signal("SIGKILL"), END_GRACE_MS);
  };
  const either = AbortSignal.any([signal, limit.signal]);
  either.addEventListener("abort", end);
  if (either.aborted) end();
  try {
    const exit = await step.run((own) =>
      main(
        [
          verb,
          "--json",
          "--home",
          scratch.home,
          ...(verb === "run" ? ["-w", scratch.workspace] : []),
          // All requests are sent whatever they are, and compared afterwards.
          ...(fixture === null
            ? []
            : ["--fixture", fixture, ...(SENDING.has(verb) ? ["--match", "sequence"] : [])]),
          ...args,
        ],
        own,
        ALL_VERBS,
      )
    );
    const ended = step.lines.findLast(({ type }) => type === "run.ended");
    return {
      exit,
      hung: limit.signal.aborted,
      state: ended === undefined ? null : stringMember(ended, "state") ?? null,
      saved: step.lines.flatMap((line) => line.type === "turn.saved" ? [Number(line.turn)] : []),
      requests: step.requests,
      said: saidBy(step, scratch),
    };
  } finally {
    either.removeEventListener("abort", end);
    clearTimeout(timer);
    clearTimeout(lastResort);
  }
}

function saidBy({ lines, stderr }: StepProcess, { root }: TestScratch): string {
  const error = lines.findLast(({ type }) => type === "error");
  const text = error === undefined
    ? stderr.trim().slice(-SAID_CHARACTERS)
    : `${stringMember(error, "code")}: ${stringMember(error, "message")}`;
  return hideRoot(text, root);
}

export interface SentRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

/** The exit code of a process that SIGKILL ended. */
const KILLED = 137;

type StepContext = Pick<StepOptions, "scratch" | "clock"> & Pick<SessionStep, "stdin" | "kill">;

/** A step as a process: its ports, the traffic through them, and signals to it. */
class StepProcess {
  readonly ports: ProgramPorts;
  readonly requests: SentRequest[] = [];
  /** The lines of its stdout that are JSON objects. */
  readonly lines: JsonObject[] = [];
  #rest = "";
  stderr = "";
  /** The exit code of a step that was ended: its ports no longer do anything. */
  #code: number | null = null;
  readonly #ended = Promise.withResolvers<number>();
  readonly #listeners = new Set<Parameters<typeof onStopSignals>[0]>();
  readonly #context: StepContext;

  constructor(live: ProgramPorts, context: StepContext) {
    const { scratch, clock, stdin } = context;
    this.#context = context;
    const seed = Number.parseInt(sha256Hex(clock).slice(0, 8), 16);
    const path = live.env("PATH");
    const variables: Readonly<Record<string, string>> = {
      ...(path === undefined ? {} : { PATH: path }),
      HOME: scratch.user,
      TMPDIR: scratch.temporary,
      NO_COLOR: "1",
    };
    this.ports = {
      ...fixturePorts(live, { created: Date.parse(clock), seed }),
      env: (name) => isRead(name) ? variables[name] : undefined,
      files: this.#whileAlive(withoutSync(live.files)),
      workingDirectory: () => scratch.cwd,
      stdin: stdinOf(encodeUtf8(stdin ?? "")),
      openTerminal: () => null,
      stdout: this.#sink((text) => this.#print(text)),
      stderr: this.#sink((text) => this.stderr += text),
      onStopSignals: (act) => {
        this.#listeners.add(act);
        return () => this.#listeners.delete(act);
      },
      exit: (code) => this.#end(code),
      wrapSend: (send) => this.#recording(send),
      wrapTool: (tool) => withVirtualRoot(tool, scratch.root),
    };
  }

  /** Calls the program and resolves with the exit code. */
  async run(program: (ports: ProgramPorts) => Promise<number>): Promise<number> {
    const code = await Promise.race([program(this.ports), this.#ended.promise]);
    return this.#code ?? code;
  }

  /** Sends a signal, with the same effect as on a process. */
  signal(signal: StopSignal | "SIGKILL"): void {
    if (signal === "SIGKILL") return this.#end(KILLED);
    const exitCode = STOP_SIGNALS[signal];
    if (this.#listeners.size === 0) this.#end(exitCode);
    for (const act of this.#listeners) act(signal, exitCode);
  }

  /** Cuts the program off and ends its commands; {@linkcode run} resolves at once. */
  #end(code: number): void {
    this.#code ??= code;
    killRunningGroups(this.#context.scratch.root);
    this.#ended.resolve(code);
  }

  #print(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const { kill } = this.#context;
    for (const line of lines.map(parsedObject)) {
      if (line === null) continue;
      this.lines.push(line);
      if (kill === undefined || line.type !== kill.after || line.turn !== kill.turn) continue;
      // Not #end: the program unwinds, which closes its lock as the system would, and the next step needs that lock.
      if (kill.signal === undefined || kill.signal === "SIGKILL") this.#code = KILLED;
      else this.signal(kill.signal);
    }
  }

  #recording(send: Send): Send {
    return (request, signal) => {
      if (this.#code !== null) return Promise.reject(new StepEndedError());
      const { pathname, search } = new URL(request.url);
      this.requests.push({ method: "POST", path: `${pathname}${search}`, body: request.body });
      return send(request, signal);
    };
  }

  #whileAlive(files: Files): Files {
    return new Proxy(files, {
      get: (target, name) => {
        if (this.#code !== null) throw new StepEndedError();
        return Reflect.get(target, name);
      },
    });
  }

  #sink(take: (text: string) => void): TextStream {
    const decoder = new TextDecoder();
    return {
      isTerminal: () => false,
      writeSync: (bytes) => {
        if (this.#code === null) take(decoder.decode(bytes, { stream: true }));
        return bytes.length;
      },
    };
  }
}

class StepEndedError extends Error {
  override readonly name = "StepEndedError";
}

/** Files without sync, which is slow: no scratch directory outlives a power cut. */
function withoutSync(files: Files): Files {
  return {
    ...files,
    createExclusive(path, mode) {
      const file = files.createExclusive(path, mode);
      return { write: (bytes) => file.write(bytes), sync: () => {}, close: () => file.close() };
    },
    syncDirectory: () => {},
  };
}

/** `tool` with `/` for `root` in the paths of its output, so that `pwd` prints `/workspace` on any machine. */
function withVirtualRoot(tool: Tool, root: string): Tool {
  // The shell counts the bytes of an output and cuts it, which must come after the paths are replaced.
  if (tool.name === shell.name) {
    return shellTool(async (argv, options) => {
      const result = await runCommand(argv, options);
      return { ...result, output: { ...result.output, bytes: hideRootInBytes(result.output.bytes, root) } };
    });
  }
  return {
    ...tool,
    async run(args, context) {
      const { output: text, ...rest } = await tool.run(args, { ...context, maxOutputChars: Infinity });
      return finishText(hideRootInOutput({ ...rest, text }, root), context.maxOutputChars);
    },
  };
}

function hideRootInOutput(text: ToolText, root: string): ToolText {
  const { full } = text;
  return {
    ...text,
    text: hideRoot(text.text, root),
    ...(full === undefined ? {} : { full: { ...full, bytes: hideRootInBytes(full.bytes, root) } }),
  };
}

/** Bytes of any encoding with `/` for `root` in paths. */
function hideRootInBytes(bytes: Uint8Array, root: string): Uint8Array {
  // One character for each byte, so that bytes that are not UTF-8 stay unchanged.
  const latin1 = (part: Uint8Array) =>
    Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1");
  const path = latin1(new TextEncoder().encode(root));
  const text = latin1(bytes);
  return text.includes(path) ? new Uint8Array(Buffer.from(hideRoot(text, path), "latin1")) : bytes;
}

/** A text with `/` for `root` in paths. */
function hideRoot(text: string, root: string): string {
  return text.replaceAll(`${root}/`, "/").replaceAll(root, "/");
}

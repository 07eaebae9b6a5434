/**
 * The ports that a step of a session test is played with: the program runs unchanged, in this process, and everything
 * around it is the test's own.
 *
 * @module
 */
import { sha256Hex } from "../../domain/hash.ts";
import { type JsonObject, parsedObject } from "../../domain/json.ts";
import type { Files } from "../../domain/ports.ts";
import type { SessionStep } from "../../fixture/session/session_file.ts";
import { killRunningGroups } from "../../tools/shell/process_group.ts";
import type { Send } from "../../transport/http.ts";
import { isRead } from "../environment.ts";
import { fixturePorts } from "../run/fixture_ports.ts";
import type { InputStream, ProgramPorts } from "../live_ports.ts";
import { type onStopSignals, STOP_SIGNALS, type StopSignal } from "../stop_signals.ts";
import type { TextStream } from "../terminal.ts";
import type { TestPlace } from "./place.ts";
import { withVirtualRoot } from "./virtual_root.ts";

/** A request as the step sent it. */
export interface SentRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

/** The exit code of a process that SIGKILL ended. */
const KILLED = 137;

/** What a step is given. */
export interface StepSurroundings {
  readonly place: TestPlace;
  /** When its clock begins, where no fixture says so. */
  readonly clock: string;
  readonly stdin: SessionStep["stdin"];
  readonly kill: SessionStep["kill"];
}

/** One step from outside: its ports, what came through them, and signals to it. */
export class StepProcess {
  readonly ports: ProgramPorts;
  readonly requests: SentRequest[] = [];
  /** The lines of its stdout that are JSON objects. */
  readonly lines: JsonObject[] = [];
  #rest = "";
  stderr = "";
  /** The exit code of a step that did not end by itself: nothing that it still does has an effect. */
  #code: number | null = null;
  readonly #ended = Promise.withResolvers<number>();
  readonly #listeners = new Set<Parameters<typeof onStopSignals>[0]>();
  readonly #given: StepSurroundings;

  constructor(live: ProgramPorts, given: StepSurroundings) {
    const { place, clock, stdin } = given;
    this.#given = given;
    const seed = Number.parseInt(sha256Hex(clock).slice(0, 8), 16);
    const path = live.env("PATH");
    const variables: Readonly<Record<string, string>> = {
      ...(path === undefined ? {} : { PATH: path }),
      HOME: place.user,
      TMPDIR: place.temporary,
      NO_COLOR: "1",
    };
    this.ports = {
      ...fixturePorts(live, { created: Date.parse(clock), seed }),
      env: (name) => isRead(name) ? variables[name] : undefined,
      files: this.#whileAlive(withoutSync(live.files)),
      workingDirectory: () => place.cwd,
      stdin: inputOf(stdin ?? ""),
      stdout: this.#sink((text) => this.#print(text)),
      stderr: this.#sink((text) => this.stderr += text),
      onStopSignals: (act) => {
        this.#listeners.add(act);
        return () => this.#listeners.delete(act);
      },
      exit: (code) => this.#end(code),
      wrapSend: (send) => this.#noting(send),
      wrapTool: (tool) => withVirtualRoot(tool, place.root),
    };
  }

  /** Calls the program, and resolves with the exit code. */
  async run(program: (ports: ProgramPorts) => Promise<number>): Promise<number> {
    const code = await Promise.race([program(this.ports), this.#ended.promise]);
    return this.#code ?? code;
  }

  /** Sends a signal, with the effect that it has on a process. */
  signal(signal: StopSignal | "SIGKILL"): void {
    if (signal === "SIGKILL") return this.#end(KILLED);
    const exitCode = STOP_SIGNALS[signal];
    if (this.#listeners.size === 0) this.#end(exitCode);
    for (const act of this.#listeners) act(signal, exitCode);
  }

  /** Cuts the program off, ends its commands, and waits for it no longer. */
  #end(code: number): void {
    this.#code ??= code;
    killRunningGroups(this.#given.place.root);
    this.#ended.resolve(code);
  }

  #print(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const { kill } = this.#given;
    for (const line of lines.map(parsedObject)) {
      if (line === null) continue;
      this.lines.push(line);
      if (kill === undefined || line.type !== kill.after || line.turn !== kill.turn) continue;
      // The program unwinds, which closes its lock as the system would, and is waited for: the next step wants that lock.
      if (kill.signal === undefined || kill.signal === "SIGKILL") this.#code = KILLED;
      else this.signal(kill.signal);
    }
  }

  #noting(send: Send): Send {
    return (request, signal) => {
      if (this.#code !== null) return Promise.reject(new GoneError());
      const { pathname, search } = new URL(request.url);
      this.requests.push({ method: "POST", path: `${pathname}${search}`, body: request.body });
      return send(request, signal);
    };
  }

  #whileAlive(files: Files): Files {
    return new Proxy(files, {
      get: (target, name) => {
        if (this.#code !== null) throw new GoneError();
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

/** A program meets this where it goes on after its end. */
class GoneError extends Error {
  override readonly name = "GoneError";
}

/** The same files, not made durable: a scratch directory does not outlive a power cut, and waiting for disks takes long. */
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

function inputOf(text: string): InputStream {
  return {
    isTerminal: () => false,
    read: () => Promise.resolve(null),
    readSync: () => null,
    readable: new Blob([text]).stream(),
  };
}

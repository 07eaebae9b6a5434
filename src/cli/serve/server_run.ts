/**
 * Run of a server, the same for `record`, `serve` and the gateway: output of events, port file, ready event, tests or a
 * command, and its end, also by a signal.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Files, Ports } from "../../domain/ports.ts";
import type { RouteServers } from "../../fixture/loopback/route.ts";
import { writeNewFile } from "../../fixture/seal.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import { orFileError } from "../../store/fs_errors.ts";
import { unlinkQuietly } from "../../store/write/publish.ts";
import { spawn } from "../../tools/shell/children.ts";
import { loopbackDirect } from "../../transport/proxy.ts";
import { readVariable, unsetVariables } from "../environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { absolute } from "../settings.ts";
import { endOnSignals, signalChild, type StopSignal } from "../signals.ts";
import { Printer } from "../terminal.ts";
import { answerTests, type TestProcess } from "./test_process.ts";

interface ServerFlags extends EventFlags {
  readonly portFile?: string | undefined;
  readonly suite?: true | undefined;
  readonly verbose?: true | undefined;
}

/** Decides what a server runs for: a command, a process of tests, or any client. */
export interface ServerPlan {
  /** Wrapped command and its arguments; empty without one. */
  readonly command: readonly string[];
  readonly wraps: boolean;
  /** True if a process of tests started the server. */
  readonly isSuite: boolean;
  /** True if clients get their base URLs from us, in the environment of the command or in the ready line of `--suite`. */
  readonly leadsClients: boolean;
  /** False if a command has the terminal: then only problems are printed. */
  readonly isChatty: boolean;
  readonly portFile: PortFile | null;
}

/**
 * Reads the plan of a server from its flags.
 *
 * @throws {RepriseError} `usage` for `--suite` with a command or with several folders, and as {@linkcode PortFile}.
 */
export function planServer(
  ports: ProgramPorts,
  flags: ServerFlags,
  { command, folders }: { readonly command: readonly string[]; readonly folders: readonly string[] },
): ServerPlan {
  const wraps = command.length > 0;
  const isSuite = flags.suite === true;
  if (isSuite && (wraps || folders.length > 1)) {
    const why = wraps ? "a command is given" : "several folders are given";
    throw new RepriseError("usage", `Cannot use --suite: ${why}`, {
      hint: "--suite is for the helpers of test runners, which start reprise themselves",
    });
  }
  const portFile = flags.portFile === undefined ? null : new PortFile(ports, flags.portFile);
  return {
    command,
    wraps,
    isSuite,
    leadsClients: wraps || isSuite,
    isChatty: !wraps || flags.verbose === true,
    portFile,
  };
}

/** Begin of the ready event of every server. */
interface Ready {
  readonly type: "ready";
  readonly port: number;
  readonly origin: string;
  readonly address: string;
}

/** Acts of a verb while its server runs. */
interface ServerActs extends Partial<Pick<TestProcess, "begin" | "strays" | "end">> {
  /** Called when clients may send requests. */
  readonly onReady: (ready: Ready) => void;
  /** Variables of the wrapped command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables that the wrapped command must not see. */
  readonly unset: readonly string[];
}

/** Output and signals of a server; dispose it after the run. */
export class ServerRun<Name extends EventName> implements Disposable {
  readonly events: EventOutput<Name>;
  readonly #ports: ProgramPorts;
  readonly #output: Output;
  readonly #plan: ServerPlan;
  readonly #shutdown: GracefulShutdown;

  /** @throws {RepriseError} `storage_…` if the file of `--events` cannot be written. */
  constructor(ports: ProgramPorts, plan: ServerPlan, { output, flags }: {
    readonly output: Output;
    readonly flags: EventFlags;
  }) {
    // With --suite, stdout has answers only: a process of tests that does not read yet must not stop the server.
    this.events = openEventOutput<Name>(output, flags, { wraps: plan.leadsClients });
    this.#ports = ports;
    this.#output = output;
    this.#plan = plan;
    this.#shutdown = gracefulShutdown(ports, plan);
    if (!plan.wraps) output.onClosed(() => this.#shutdown.request());
  }

  /**
   * Writes the port file, and waits for the end: of the tests, of the command, or by a signal. Then it stops the servers.
   *
   * @returns the exit code of the command, or 0.
   */
  async untilEnd(running: RouteServers, acts: ServerActs): Promise<number> {
    const { wraps, isChatty, portFile, command } = this.#plan;
    const [{ port, origin, address }] = running.servers;
    try {
      using _file = portFile?.write(port) ?? null;
      acts.onReady({ type: "ready", port, origin, address });
      if (acts.end !== undefined) {
        await answerTests({
          stdin: this.#ports.stdin,
          stopped: this.#shutdown.requested,
          begin: acts.begin,
          strays: acts.strays,
          end: acts.end,
          print: (line) => this.#output.json<"test-report">(line),
        });
        return 0;
      }
      if (!wraps) return await this.#shutdown.requested;
      if (!isChatty) this.#output.hold();
      unsetVariables(acts.unset);
      return await runWrapped(command, acts.environment, this.#shutdown);
    } finally {
      await running.stop();
      if (wraps) this.#output.release();
    }
  }

  [Symbol.dispose](): void {
    this.#shutdown[Symbol.dispose]();
    this.events[Symbol.dispose]();
  }
}

export interface EventFlags {
  readonly json?: true | undefined;
  /** A file for the events; stdout may belong to a wrapped command. */
  readonly events?: string | undefined;
}

type EventName = "serve-event" | "record-event";

/** Takes the events of a verb one by one. */
export interface EventOutput<Name extends EventName> extends Disposable {
  /** True if stdout has the events, so that stderr need not repeat them. */
  readonly onStdout: boolean;
  write(event: JsonDocument<Name>): void;
}

/**
 * Opens the output of events: the file of `--events` (`-` is stdout), else stdout with `--json`, unless a wrapped
 * command has stdout to itself.
 *
 * @throws {RepriseError} `storage_…` if the file cannot be written.
 */
function openEventOutput<Name extends EventName>(
  output: Output,
  { json, events }: EventFlags,
  { wraps }: { readonly wraps: boolean },
): EventOutput<Name> {
  // The runtime cannot open these by their names.
  const isStderr = events === "/dev/stderr";
  const isStdout = events === "-" || events === "/dev/stdout";
  if (events !== undefined && !isStdout && !isStderr) return fileOutput(events);
  const onStdout = isStdout || json === true && !wraps;
  return {
    onStdout,
    write: (event) => {
      if (onStdout) output.json<Name>(event);
      else if (isStderr) output.jsonToStderr(event);
    },
    [Symbol.dispose]: () => {},
  };
}

function fileOutput<Name extends EventName>(path: string): EventOutput<Name> {
  const attempt = <T>(action: () => T) => orFileError("write the events", path, action);
  const file = attempt(() => Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 }));
  const printer = new Printer(file);
  return {
    onStdout: false,
    write: (event) => attempt(() => printer.json(`${JSON.stringify(event)}\n`)),
    [Symbol.dispose]: () => file.close(),
  };
}

/** Milliseconds that a wrapped command has to end after a signal. */
const COMMAND_MS = 3000;

/** The end of a server by a signal. */
interface GracefulShutdown extends Disposable {
  /** Resolves with 0 after a signal or a call of {@linkcode GracefulShutdown.request}. */
  readonly requested: Promise<0>;
  request(): void;
  /** Passes the signals on to a command, whose end is that of the server; kills it with the process, or when it stays. */
  wrap(command: Deno.ChildProcess): void;
}

/**
 * Listens for SIGINT, SIGTERM and SIGHUP, the usual end of a server, as {@linkcode endOnSignals}. Call it before the
 * server reports that it is ready.
 */
function gracefulShutdown(
  { onStopSignals, exit }: Pick<ProgramPorts, "onStopSignals" | "exit">,
  { wraps = false }: { readonly wraps?: boolean } = {},
): GracefulShutdown {
  const { promise, resolve } = Promise.withResolvers<0>();
  // A terminal sends Ctrl-C to the command too, which may go on after it, and many programs end hard at the second one.
  const isForCommand = (signal: StopSignal) => wraps && signal === "SIGINT" && Deno.stdin.isTerminal();
  let command: Deno.ChildProcess | null = null;
  let asked: StopSignal | null = null;
  let patience: ReturnType<typeof setTimeout> | undefined;
  const kill = () => command === null ? undefined : signalChild(command, "SIGKILL");
  const pass = () => {
    if (command === null || asked === null) return;
    signalChild(command, asked);
    patience = setTimeout(kill, COMMAND_MS);
  };
  const ending = endOnSignals({
    onStopSignals: (act) =>
      onStopSignals((signal, exitCode) => isForCommand(signal) ? undefined : act(signal, exitCode)),
    exit(code) {
      kill();
      exit(code);
    },
  }, (signal) => {
    asked = signal;
    pass();
    resolve(0);
  });
  return {
    requested: promise,
    request: () => resolve(0),
    wrap(started) {
      command = started;
      pass();
    },
    [Symbol.dispose]() {
      clearTimeout(patience);
      ending[Symbol.dispose]();
    },
  };
}

/** The content that a killed server left; empty if a script created the file. */
const LEFT_BY_SERVER = /^(\d{1,5}\n)?$/;
/** `65535` with its line end. */
const MAX_BYTES = 6;

/** A file with the port of a server, in one line. */
class PortFile {
  readonly #files: Files;
  readonly #path: string;

  /** @throws {RepriseError} `usage` if anything but an empty file or an older port file is at `path`; `storage_…`. */
  constructor(ports: Ports, path: string) {
    this.#files = ports.files;
    this.#path = absolute(ports, path);
    this.#requireReplaceable();
  }

  /**
   * Writes the file atomically. Disposing removes the file, unless another file has replaced it.
   *
   * @throws {RepriseError} `usage`, as the constructor; `storage_…`.
   */
  write(port: number): Disposable {
    const [files, path] = [this.#files, this.#path];
    this.#requireReplaceable();
    const temporary = `${path}.part-${crypto.randomUUID()}`;
    const written = orFileError("write the port file", path, () => {
      try {
        writeNewFile(files, temporary, `${port}\n`);
        const facts = files.facts(temporary);
        files.rename(temporary, path);
        return facts;
      } catch (error) {
        unlinkQuietly(files, temporary);
        throw error;
      }
    });
    return {
      [Symbol.dispose]() {
        try {
          const now = files.facts(path);
          if (now?.inode === written?.inode && now?.device === written?.device) files.unlink(path);
        } catch {
          // The file outlives the server; the next one replaces it.
        }
      },
    };
  }

  #requireReplaceable(): void {
    const [files, path] = [this.#files, this.#path];
    orFileError("write the port file", path, () => {
      const facts = files.facts(path);
      if (facts === null) return;
      const isOurs = facts.kind === "file" && facts.size <= MAX_BYTES &&
        LEFT_BY_SERVER.test(new TextDecoder().decode(files.read(path)));
      if (isOurs) return;
      const found = facts.kind === "file" ? "it holds something other than a port" : "it is no regular file";
      throw new RepriseError("usage", `Cannot write the port to ${JSON.stringify(path)}: ${found}`, {
        hint: "Name a new file: it is replaced, and removed when the server ends",
      });
    });
  }
}

/**
 * Runs a command with our streams and our whole environment, `env` on top of it, and waits for its end. The signals of
 * `shutdown` go to the command.
 *
 * @returns its exit code; after a signal, 128 and the number of the signal.
 * @throws {RepriseError} `usage` if the command cannot be started.
 */
async function runWrapped(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  shutdown: Pick<GracefulShutdown, "wrap">,
): Promise<number> {
  const child = started(command, env);
  shutdown.wrap(child);
  // After a signal, the runtime returns 128 and its number, as a shell does.
  return (await child.status).code;
}

function started(
  [name = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Deno.ChildProcess {
  try {
    return spawn(name, {
      args,
      // The base URLs point to this machine, so no proxy may get the requests and their real keys.
      env: { ...loopbackDirect(readVariable), ...env },
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    });
  } catch (error) {
    throw notStarted(name, error);
  }
}

/** Returns the error for a command that the system does not start. */
export function notStarted(name: string, error: unknown): RepriseError {
  return new RepriseError("usage", `Cannot start the command ${JSON.stringify(name)}: ${whyNot(error)}`, {
    hint: "Everything after -- is the command and its arguments; no shell parses it",
    cause: error,
  });
}

function whyNot(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such program";
  if (error instanceof Deno.errors.PermissionDenied) return "it may not be executed";
  return error instanceof Error ? error.message : String(error);
}

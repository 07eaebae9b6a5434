/** The process of `record` and `serve`: output of events, port file, and end by a signal. */
import { RepriseError } from "../../domain/errors.ts";
import type { FileFacts, Files, Ports } from "../../domain/ports.ts";
import { writeNewFile } from "../../fixture/seal.ts";
import { fileError, orFileError } from "../../store/fs_errors.ts";
import { unlinkQuietly } from "../../store/write/publish.ts";
import type { Output } from "../output.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { absolute } from "../settings.ts";
import { endOnSignals, signalChild, type StopSignal } from "../signals.ts";
import { Printer } from "../terminal.ts";

/** The flags that choose the output of events. */
export interface EventFlags {
  readonly json?: true | undefined;
  /** A file for the events; stdout may belong to a wrapped command. */
  readonly events?: string | undefined;
}

/** Kinds of events that a verb can write to a file. */
export type EventName = "serve-event" | "record-event";

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
export function openEventOutput<Name extends EventName>(
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
  const attempt = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw fileError(error, "write the events", path);
    }
  };
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
export interface GracefulShutdown extends Disposable {
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
export function gracefulShutdown(
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
export class PortFile {
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
          if (isSame(written, files.facts(path))) files.unlink(path);
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

function isSame(written: FileFacts | null, now: FileFacts | null): boolean {
  return written !== null && now !== null && written.inode === now.inode && written.device === now.device;
}

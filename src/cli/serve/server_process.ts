/**
 * What `record` and `serve` share as processes: the output of events, the port file, and the end by a signal.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { FileFacts, Files, Ports } from "../../domain/ports.ts";
import { writeNew } from "../../fixture/seal.ts";
import { fileError, orFileError } from "../../store/fs_errors.ts";
import { unlinkQuietly } from "../../store/write/publish.ts";
import type { Output } from "../output.ts";
import { absolute } from "../settings.ts";
import { onStopSignals } from "../stop_signals.ts";
import { Printer } from "../terminal.ts";

/** The flags that decide about it. */
export interface EventFlags {
  readonly json?: true | undefined;
  /** A file for the events, where stdout is the command's. */
  readonly events?: string | undefined;
}

/** Takes the events of a verb one by one. */
export interface EventOutput extends Disposable {
  /** True where stdout has them, and stderr need not tell them too. */
  readonly onStdout: boolean;
  /** One line. */
  write<Event extends { readonly type: string }>(event: Event): void;
}

/**
 * Opens it: `--events FILE` takes the lines, `-` being stdout; without it `--json` prints them, unless a command is wrapped: its stdout
 * is its own.
 *
 * @throws {RepriseError} `storage_…` where the file cannot be written.
 */
export function openEventOutput(
  output: Output,
  { json, events }: EventFlags,
  { wraps }: { readonly wraps: boolean },
): EventOutput {
  // The runtime opens no streams by their names: these are open already.
  const isStderr = events === "/dev/stderr";
  const isStdout = events === "-" || events === "/dev/stdout";
  if (events !== undefined && !isStdout && !isStderr) return fileOutput(events);
  const onStdout = isStdout || json === true && !wraps;
  return {
    onStdout,
    write: (event) => {
      if (onStdout) output.json(event);
      else if (isStderr) output.jsonToStderr(event);
    },
    [Symbol.dispose]: () => {},
  };
}

function fileOutput(path: string): EventOutput {
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

/** The ordinary end of a server. */
export interface OrdinaryEnd extends Disposable {
  /** Resolves with 0 once a signal came, or {@linkcode OrdinaryEnd.ask} was called. */
  readonly came: Promise<0>;
  ask(): void;
}

/**
 * Listens for SIGINT, SIGTERM and SIGHUP from now on, which are the ordinary end of a server: so before anybody is told
 * that it is ready. A second signal ends the process at once: what is on disk is whole.
 */
export function ordinaryEnd(): OrdinaryEnd {
  const { promise, resolve } = Promise.withResolvers<0>();
  let asked = false;
  const ignoreSignals = onStopSignals((_signal, exitCode) => {
    if (asked) Deno.exit(exitCode);
    asked = true;
    resolve(0);
  });
  return {
    came: promise,
    ask: () => resolve(0),
    [Symbol.dispose]: ignoreSignals,
  };
}

/** What a server that was killed leaves there; a script may also have created the file, empty. */
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
   * Writes the file: it is there whole or not at all. Disposing removes it, because nobody listens there any more,
   * unless another file has its name by then.
   *
   * @throws {RepriseError} `usage`, as the constructor; `storage_…`.
   */
  write(port: number): Disposable {
    const [files, path] = [this.#files, this.#path];
    this.#requireReplaceable();
    const temporary = `${path}.part-${crypto.randomUUID()}`;
    const written = orFileError("write the port file", path, () => {
      try {
        writeNew(files, temporary, `${port}\n`);
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
          // A server that cannot remove it has done what it was asked to do.
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
      const found = facts.kind === "file" ? "it holds something else than a port" : "it is no regular file";
      throw new RepriseError("usage", `Cannot write the port to ${JSON.stringify(path)}: ${found}`, {
        hint: "Name a new file: it is replaced, and removed when the server ends",
      });
    });
  }
}

function isSame(written: FileFacts | null, now: FileFacts | null): boolean {
  return written !== null && now !== null && written.inode === now.inode && written.device === now.device;
}

/**
 * Where a verb that streams puts its JSON Lines.
 *
 * @module
 */
import { fileError } from "../../store/fs_errors.ts";
import type { Output } from "../output.ts";
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

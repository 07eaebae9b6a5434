/**
 * The only way to stdout and stderr. stdout is data, stderr is for people.
 *
 * @module
 */
import type { ExitCode, ReprError } from "../domain/errors.ts";
import { fileError } from "../store/fs_errors.ts";
import { type Style, styleFor, visibleText } from "./terminal.ts";

const encoder = new TextEncoder();

/** How the common flags shape the output. */
export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly colour: boolean;
}

/** Writes to both streams; a stdout that takes nothing more is remembered and told once. */
export class Output {
  readonly options: OutputOptions;
  readonly stdoutIsTerminal = Deno.stdout.isTerminal();
  readonly stderrIsTerminal = Deno.stderr.isTerminal();
  readonly style: Style;
  #closed = false;
  #failure: ReprError | null = null;
  /** A verb that only prints has nothing left to do, and ends as a shell expects of a closed pipe. */
  #onClosed: () => void = () => Deno.exit(this.closedExitCode);

  constructor(options: OutputOptions) {
    this.options = options;
    this.style = styleFor(options.colour && this.stderrIsTerminal);
  }

  /** True once stdout takes nothing more: its reader closed it, or its disk is full. */
  get closed(): boolean {
    return this.#closed;
  }

  /** What a process without a usable stdout ends with. */
  get closedExitCode(): ExitCode {
    return this.#failure?.exitCode ?? 141;
  }

  /** Instead of ending the process, call `handler` once when stdout takes nothing more. */
  onClosed(handler: () => void): void {
    this.#onClosed = handler;
  }

  /** One JSON document, or one line of JSON Lines. */
  json(value: unknown): void {
    this.raw(`${JSON.stringify(value)}\n`);
  }

  /** Text for stdout: control characters are made visible on a terminal, kept in a pipe or file. */
  text(text: string): void {
    this.raw(this.stdoutIsTerminal ? visibleText(text) : text);
  }

  /** Exact text for stdout. */
  raw(text: string): void {
    this.bytes(encoder.encode(text));
  }

  /** Exact bytes for stdout. */
  bytes(bytes: Uint8Array): void {
    if (this.#closed) return;
    try {
      writeAll(Deno.stdout, bytes);
    } catch (error) {
      this.#closed = true;
      if (!(error instanceof Deno.errors.BrokenPipe)) {
        this.#failure = fileError(error, "write the output", "stdout");
        this.errorLine(this.#failure.message, this.#failure.hint);
      }
      this.#onClosed();
    }
  }

  /** A line for people, on stderr, unless `--quiet`. */
  note(line: string): void {
    if (!this.options.quiet) this.#stderr(line);
  }

  /** A question for a person, `--quiet` or not. The caller has made sure that stderr is a terminal. */
  prompt(text: string): void {
    writeStderr(text);
  }

  /** Progress for people: only on a terminal. */
  progress(text: string): void {
    if (this.stderrIsTerminal && !this.options.quiet) writeStderr(text);
  }

  /** An error: the JSON object in `--json` mode, else one line and its hint. */
  error(error: ReprError): void {
    if (this.options.json) {
      this.json(error.toJSON());
      return;
    }
    this.errorLine(error.message, error.hint);
  }

  /** An error for people, on stderr, `--quiet` or not. */
  errorLine(message: string, hint: string | undefined): void {
    this.#stderr(`${this.style.red("error:")} ${this.#safe(message)}`);
    if (hint !== undefined) this.#stderr(`hint: ${this.#safe(hint)}`);
  }

  #stderr(line: string): void {
    writeStderr(`${line}\n`);
  }

  #safe(text: string): string {
    return this.stderrIsTerminal ? visibleText(text) : text;
  }
}

function writeStderr(text: string): void {
  try {
    writeAll(Deno.stderr, encoder.encode(text));
  } catch {
    // Nobody to tell: stderr is gone, or its disk is full.
  }
}

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += stream.writeSync(bytes.subarray(written));
}

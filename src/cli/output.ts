/** Output: the only module that writes to stdout (data) and stderr (for people). */
import type { ExitCode, RepriseError } from "../domain/errors.ts";
import { fileError } from "../store/fs_errors.ts";
import type { ProgramPorts } from "./live_ports.ts";
import type { JsonDocument, SchemaName } from "../schemas/schemas.ts";
import { type Printable, Printer, red, type Styled, terminalColumns } from "./terminal.ts";

export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly colour: boolean;
}

type OutputPorts = Pick<ProgramPorts, "stdout" | "stderr" | "exit">;

/** Writes to both streams; reports a closed stdout once. */
export class Output {
  readonly options: OutputOptions;
  readonly #stdout: Printer;
  readonly #stderr: Printer;
  #closed = false;
  #hasStatus = false;
  /** Lines for stderr that wait for the end of a command; `null` if they do not wait. */
  #held: Printable[] | null = null;
  /** True if another program may have left the terminal in the middle of a line. */
  #isInLine = false;
  #failure: RepriseError | null = null;
  /** Ends a verb that only prints, as a shell expects after a closed pipe. */
  #onClosed: () => void;

  constructor(options: OutputOptions, { stdout, stderr, exit }: OutputPorts) {
    this.options = options;
    this.#stdout = new Printer(stdout, options);
    this.#stderr = new Printer(stderr, options);
    this.#onClosed = () => exit(this.closedExitCode);
  }

  get stdoutIsTerminal(): boolean {
    return this.#stdout.isTerminal;
  }

  /** Columns of the terminal that stdout is; `null` for a pipe or file. */
  get columns(): number | null {
    return this.stdoutIsTerminal ? terminalColumns() : null;
  }

  get stderrIsTerminal(): boolean {
    return this.#stderr.isTerminal;
  }

  /** True once stdout accepts no more output: its reader closed it, or its disk is full. */
  get closed(): boolean {
    return this.#closed;
  }

  /** True once the reader of stdout has closed it. */
  get isUnread(): boolean {
    return this.#closed && this.#failure === null;
  }

  /** Exit code of a process without a usable stdout. */
  get closedExitCode(): ExitCode {
    return this.#failure?.exitCode ?? 141;
  }

  /** Calls `handler` once when stdout accepts no more output, instead of ending the process. */
  onClosed(handler: () => void): void {
    this.#onClosed = handler;
  }

  /** One JSON document, or one line of JSON Lines: of the kind that is named as a type argument, such as `json<"ls">`. */
  json<Name extends SchemaName = never>(value: JsonDocument<Name>): void {
    this.jsonText(`${JSON.stringify(value)}\n`);
  }

  /** Text of JSON for stdout, exactly; on a terminal, control characters in it are escaped. */
  jsonText(text: string): void {
    this.#toStdout(() => this.#stdout.json(text));
  }

  /** Text for stdout: control characters are made visible on a terminal, kept in a pipe or file. */
  text(text: Printable): void {
    this.#toStdout(() => this.#stdout.text(text));
  }

  /** Text as {@linkcode text} prints it: for a pager, which has the same terminal. */
  rendered(text: Printable): string {
    return this.#stdout.rendered(text);
  }

  renderedText(text: string): void {
    this.#toStdout(() => this.#stdout.renderedText(text));
  }

  /** Bytes of a file for stdout, exactly; on a terminal as {@linkcode jsonText}. */
  bytes(bytes: Uint8Array): void {
    this.#toStdout(() => this.#stdout.bytes(bytes));
  }

  /** A line for people, on stderr, unless `--quiet`. */
  note(line: Printable): void {
    if (!this.options.quiet) this.#toStderr([line, "\n"]);
  }

  /** A line about a problem that decides the exit code, on stderr, even with `--quiet`. */
  problem(line: Printable): void {
    this.#toStderr([line, "\n"]);
  }

  /** A question for a person, even with `--quiet`. The caller has checked that stderr is a terminal. */
  prompt(text: Printable): void {
    this.#toStderr([text]);
  }

  /** Progress for people: only on a terminal. */
  progress(text: Printable): void {
    if (this.stderrIsTerminal && !this.options.quiet) this.#toStderr([text]);
  }

  /**
   * Shows a line, which ends with `end`, on the terminal of stderr until anything else is written; nothing with
   * `--quiet` or `--json`.
   */
  status(text: string, end: string): void {
    if (!this.stderrIsTerminal || this.options.quiet || this.options.json) return;
    this.#hasStatus = true;
    quietly(() => this.#stderr.status(text, end));
  }

  clearStatus(): void {
    if (!this.#hasStatus) return;
    this.#hasStatus = false;
    quietly(() => this.#stderr.clearStatus());
  }

  jsonToStderr(value: unknown): void {
    quietly(() => this.#stderr.json(`${JSON.stringify(value)}\n`));
  }

  /** An error: the JSON object in `--json` mode, else one line and its hint. */
  error(error: RepriseError): void {
    if (this.options.json) {
      this.json<"error">(error.toJSON());
      return;
    }
    this.errorLine(error.message, error.hint);
  }

  /** An error for people, on stderr, even with `--quiet`. */
  errorLine(message: string, hint: string | undefined): void {
    this.#toStderr([red("error:"), ` ${message}\n`]);
    if (hint !== undefined) this.#toStderr([`hint: ${hint}\n`]);
  }

  /** Keeps the lines for stderr while another program has the terminal: they would land in the middle of its lines. */
  hold(): void {
    this.#held ??= [];
  }

  /** Prints the lines that were kept, at the beginning of a line, and from then on every line at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#isInLine = true;
    if (held.length > 0) this.#toStderr(held);
  }

  #toStdout(print: () => void): void {
    if (this.#closed) return;
    if (this.stdoutIsTerminal) this.clearStatus();
    try {
      print();
    } catch (error) {
      this.#closed = true;
      if (!(error instanceof Deno.errors.BrokenPipe)) {
        this.#failure = fileError(error, "write the output", "stdout");
        this.errorLine(this.#failure.message, this.#failure.hint);
      }
      this.#onClosed();
    }
  }

  #toStderr(printables: readonly Printable[]): void {
    if (this.#held !== null) {
      this.#held.push(...printables);
      return;
    }
    this.clearStatus();
    if (this.#isInLine) quietly(() => this.#stderr.beginLine());
    this.#isInLine = false;
    quietly(() => this.#stderr.text(printables.flat() as readonly (string | Styled)[]));
  }
}

/** Ignores errors: without stderr, or with its disk full, there is no place to report them. */
function quietly(print: () => void): void {
  try {
    print();
  } catch {
    // Nothing can be printed.
  }
}

/**
 * Questions about calls to the person at the terminal.
 *
 * @module
 */
import type { Ask, Consent } from "../../run/permission_gate.ts";
import type { InputStream, ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";

/** Milliseconds without typing before a question is asked. */
const QUIET_MS = 30;
/** Every read from a closed terminal returns an end: after this many, no input is discarded. */
const MAX_ENDS = 8;

/**
 * Asks the person at the terminal: through stdin, or past a stdin that is no terminal. `null` unless stderr is a
 * terminal and there is one to read from.
 *
 * The terminal stays in its ordinary line mode, so there is nothing to restore at the end of the run.
 */
export function askAtTerminal(
  { stdin, openTerminal }: Pick<ProgramPorts, "stdin" | "openTerminal">,
  output: Output,
  signal: AbortSignal,
): Ask | null {
  if (!output.stderrIsTerminal) return null;
  const terminal = stdin.isTerminal() ? stdin : openTerminal();
  if (terminal === null) return null;
  const keyboard = new Keyboard(terminal, signal);
  return async (question) => {
    const { questionText } = await import("./question.ts");
    const text = questionText(question);
    await keyboard.discard();
    output.prompt(text);
    for (;;) {
      output.prompt(CHOICES);
      const line = await keyboard.line();
      if (line === null) {
        output.prompt("\n");
        return "no";
      }
      const answer = ANSWERS.get(line.trim().toLowerCase());
      if (answer !== undefined) return answer;
      output.prompt(`Not an answer: ${JSON.stringify(line.trim())}. Type y, n, a, t or q\n`);
    }
  };
}

const CHOICES = "Allow? [y]es, [n]o, [a]lways this call, always this [t]ool, [q]uit: ";

const ANSWERS: ReadonlyMap<string, Consent> = new Map([
  ...["y", "yes"].map((text) => [text, "yes"] as const),
  ...["n", "no"].map((text) => [text, "no"] as const),
  ...["a", "always"].map((text) => [text, "always"] as const),
  ...["t", "tool"].map((text) => [text, "always_tool"] as const),
  ...["q", "quit"].map((text) => [text, "quit"] as const),
]);

/** The lines that are typed, one read at a time: the next question uses an abandoned read. */
class Keyboard {
  readonly #terminal: Pick<InputStream, "read">;
  readonly #stopped: Promise<null>;
  readonly #buffer = new Uint8Array(1024);
  #reading: Promise<Uint8Array> | null = null;

  constructor(terminal: Pick<InputStream, "read">, signal: AbortSignal) {
    this.#terminal = terminal;
    this.#stopped = new Promise((resolve) => {
      if (signal.aborted) resolve(null);
      signal.addEventListener("abort", () => resolve(null), { once: true });
    });
  }

  /** Discards text that was typed before the question. */
  async discard(): Promise<void> {
    for (let ends = 0; ends < MAX_ENDS;) {
      const { promise: quiet, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(() => resolve(null), QUIET_MS);
      const typed = await Promise.race([this.#read(), this.#stopped, quiet]);
      clearTimeout(timer);
      if (typed === null) return;
      if (typed.length === 0) ends++;
    }
  }

  /** The next line; `null` at the end of the input, and when the run is stopped meanwhile. */
  async line(): Promise<string | null> {
    let line = "";
    const decoder = new TextDecoder();
    while (!line.includes("\n")) {
      const typed = await Promise.race([this.#read(), this.#stopped]);
      if (typed === null || typed.length === 0) return null;
      line += decoder.decode(typed, { stream: true });
    }
    return line.split("\n", 1)[0] ?? "";
  }

  /** The text that was typed next; empty at an end, after which a terminal may continue. */
  #read(): Promise<Uint8Array> {
    // Reading from a terminal that is gone fails: an end as well.
    this.#reading ??= this.#terminal.read(this.#buffer).catch(() => null).then((count) => {
      this.#reading = null;
      return this.#buffer.slice(0, count ?? 0);
    });
    return this.#reading;
  }
}

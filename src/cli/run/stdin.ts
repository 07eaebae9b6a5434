/**
 * Answers to questions about calls, from the terminal.
 *
 * @module
 */
import type { Ask, Consent, Question } from "../../run/tool_batch.ts";
import type { InputStream } from "../live_ports.ts";
import type { Output } from "../output.ts";

/** Milliseconds without typing before a question is asked. */
const QUIET_MS = 30;
/** Every read from a closed terminal returns an end: after this many, no input is discarded. */
const MAX_ENDS = 8;

/**
 * Asks the person at the terminal; `null` unless both stdin and stderr are terminals.
 *
 * The terminal stays in its ordinary line mode, so there is nothing to restore at the end of the run.
 */
export function askAtTerminal(stdin: InputStream, output: Output, signal: AbortSignal): Ask | null {
  if (!stdin.isTerminal() || !output.stderrIsTerminal) return null;
  const keyboard = new Keyboard(stdin, signal);
  return async (question) => {
    await keyboard.discard();
    output.prompt(questionText(question));
    return answerOf(await keyboard.line());
  };
}

/** The question, with the exact command, path or arguments. The output escapes control characters. */
function questionText({ subject, argumentsText }: Question): string {
  const { target } = subject;
  const what = target.kind === "command"
    ? target.line
    : target.kind === "path"
    ? `${target.path}\n${argumentsText}`
    : argumentsText;
  const shown = what.split("\n").map((line) => `  │ ${line}`).join("\n");
  return `\nThe model wants to run ${subject.tool}:\n${shown}\nAllow? [y]es, [n]o, [a]lways this in this run: `;
}

/** Any answer except a clear yes is a no. */
function answerOf(line: string): Consent {
  const word = line.trim().toLowerCase();
  if (word === "y" || word === "yes") return "yes";
  return word === "a" || word === "always" ? "always" : "no";
}

/** The lines of stdin, one read at a time: the next question uses an abandoned read. */
class Keyboard {
  readonly #stdin: InputStream;
  readonly #stopped: Promise<null>;
  readonly #buffer = new Uint8Array(1024);
  #reading: Promise<Uint8Array> | null = null;

  constructor(stdin: InputStream, signal: AbortSignal) {
    this.#stdin = stdin;
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

  /** The next line; empty at the end of stdin, and when the run is stopped meanwhile. */
  async line(): Promise<string> {
    let line = "";
    const decoder = new TextDecoder();
    while (!line.includes("\n")) {
      const typed = await Promise.race([this.#read(), this.#stopped]);
      if (typed === null || typed.length === 0) return "";
      line += decoder.decode(typed, { stream: true });
    }
    return line.split("\n", 1)[0] ?? "";
  }

  /** The text that was typed next; empty at an end, after which a terminal may continue. */
  #read(): Promise<Uint8Array> {
    // Reading from a terminal that is gone fails: an end as well.
    this.#reading ??= this.#stdin.read(this.#buffer).catch(() => null).then((count) => {
      this.#reading = null;
      return this.#buffer.slice(0, count ?? 0);
    });
    return this.#reading;
  }
}

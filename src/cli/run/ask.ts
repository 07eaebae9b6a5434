import type { Answer, Ask, Question } from "../../run/permission_gate.ts";
import type { InputStream } from "../live_ports.ts";
import type { Output } from "../output.ts";

/** How long nothing may have been typed before a question is put, in milliseconds. */
const QUIET_MS = 30;
/** A terminal that is gone ends with every read: after so many ends no more is thrown away. */
const MAX_ENDS = 8;

/**
 * A way to ask the person at the terminal, or `null` where nobody can be asked: no question is ever printed
 * unless stdin and stderr both are terminals.
 *
 * The terminal stays in its ordinary line mode, so there is nothing to restore however the run ends.
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

/** Exactly what would run. The output makes visible what a terminal would obey. */
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

/** Anything but a clear yes is a no. */
function answerOf(line: string): Answer {
  const word = line.trim().toLowerCase();
  if (word === "y" || word === "yes") return "yes";
  return word === "a" || word === "always" ? "always" : "no";
}

/** The lines of stdin, one read at a time: a read that nobody waits for any more belongs to the next question. */
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

  /** Takes away what was typed so far: an answer to a question that nobody has seen yet is none. */
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

  /** What was typed next; nothing at an end, behind which a terminal may go on. */
  #read(): Promise<Uint8Array> {
    // Reading from a terminal that is gone fails: an end as well.
    this.#reading ??= this.#stdin.read(this.#buffer).catch(() => null).then((count) => {
      this.#reading = null;
      return this.#buffer.slice(0, count ?? 0);
    });
    return this.#reading;
  }
}

/** Questions about calls to the person at the terminal. */
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import type { Ask, Consent } from "../../run/permission_gate.ts";
import type { ProgramPorts, Terminal } from "../live_ports.ts";
import type { Output } from "../output.ts";

/** Milliseconds without typing that end one key: an escape sequence and a pasted text come faster. */
const QUIET_MS = 50;
/** Every read from a closed terminal returns an end: after this many, reading stops. */
const MAX_ENDS = 8;

/**
 * Asks the person at the terminal, who answers with one key. `null` unless stderr is a terminal and there is one to read
 * from.
 *
 * The terminal passes single keys on only while a question waits, so there is nothing to restore at the end of the run.
 */
export function askAtTerminal(
  { openTerminal }: Pick<ProgramPorts, "openTerminal">,
  output: Output,
  signal: AbortSignal,
): Ask | null {
  if (!output.stderrIsTerminal) return null;
  const terminal = openTerminal();
  if (terminal === null) return null;
  const keyboard = new Keyboard(terminal, signal);
  return async (question) => {
    const { questionText } = await import("./question.ts");
    const text = questionText(question);
    const release = keyboard.singleKeys();
    try {
      await keyboard.typed();
      output.prompt(text);
      for (;;) {
        output.prompt(CHOICES);
        const key = await keyboard.key();
        const answer = key === null ? "no" : ANSWERS.get(key.toLowerCase());
        output.prompt(key === null || answer === undefined ? "\n" : `${answer.replace("_", " ")}\n`);
        if (answer !== undefined) return answer;
        output.prompt("Not an answer. Press one key: y, n, a, t or q\n");
      }
    } finally {
      release();
    }
  };
}

const CHOICES = "Allow? [y]es, [n]o, [a]lways this call, always this [t]ool, [q]uit: ";

const ANSWERS: ReadonlyMap<string, Consent> = new Map([
  ["y", "yes"],
  ["n", "no"],
  ["a", "always"],
  ["t", "always_tool"],
  ["q", "quit"],
  // control-d
  ["\x04", "no"],
]);

/** The keys that are typed, one read at a time: the next question uses an abandoned read. */
class Keyboard {
  readonly #terminal: Terminal;
  readonly #stopped: Promise<null>;
  readonly #buffer = new Uint8Array(1024);
  #reading: Promise<string> | null = null;

  constructor(terminal: Terminal, signal: AbortSignal) {
    this.#terminal = terminal;
    this.#stopped = new Promise((resolve) => {
      if (signal.aborted) resolve(null);
      signal.addEventListener("abort", () => resolve(null), { once: true });
    });
  }

  /**
   * Passes each key on at once and without echo; control-c stays a signal.
   *
   * @returns a function that undoes this.
   */
  singleKeys(): () => void {
    const set = (isOn: boolean) => {
      try {
        this.#terminal.setRaw(isOn, { cbreak: true });
      } catch {
        // A terminal that is gone: reading finds its end.
      }
    };
    // A shell that brings the process back to the foreground may have changed the mode.
    const again = () => set(true);
    Deno.addSignalListener("SIGCONT", again);
    set(true);
    return () => {
      Deno.removeSignalListener("SIGCONT", again);
      set(false);
    };
  }

  /** The next key, or the text that came at once; `null` at the end of the input, and when the run is stopped meanwhile. */
  async key(): Promise<string | null> {
    const first = await Promise.race([this.#read(), this.#stopped]);
    return first === null || first === "" ? null : first + await this.typed();
  }

  /** The text that was typed and not read, up to a pause. */
  async typed(): Promise<string> {
    let text = "";
    for (let ends = 0; ends < MAX_ENDS;) {
      const { promise: quiet, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(() => resolve(null), QUIET_MS);
      const more = await Promise.race([this.#read(), this.#stopped, quiet]);
      clearTimeout(timer);
      if (more === null) break;
      if (more === "") ends++;
      text += more;
    }
    return text;
  }

  /** The text that was typed next; empty at an end, after which a terminal may continue. */
  #read(): Promise<string> {
    // Reading from a terminal that is gone fails: an end as well.
    this.#reading ??= this.#terminal.read(this.#buffer).catch(() => null).then((count) => {
      this.#reading = null;
      return decodeUtf8Leniently(this.#buffer.subarray(0, count ?? 0));
    });
    return this.#reading;
  }
}

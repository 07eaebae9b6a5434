/**
 * Input of a run from stdin: its prompt, and answers to questions about calls.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import type { Ask, Consent, Question } from "../../run/tool_batch.ts";
import type { InputStream } from "../live_ports.ts";
import type { Output } from "../output.ts";

/** The API accepts at most 10,485,760 characters of input (protocol §1.2). */
const MAX_PROMPT_BYTES = 10_485_760;

/** The prompt, or `null` if an unfinished run continues without a prompt. */
export async function promptText(
  stdin: InputStream,
  prompt: string | undefined,
  options: { readonly resumes: boolean; readonly timeoutMs: number },
): Promise<string | null> {
  if (prompt === "-") return await readPrompt(stdin, options.timeoutMs);
  if (prompt !== undefined) {
    if (prompt.trim() === "") throw noPrompt("the argument is empty");
    return prompt.toWellFormed();
  }
  return options.resumes ? null : await readPrompt(stdin, options.timeoutMs);
}

/**
 * Reads the prompt from stdin, whole.
 *
 * @throws {RepriseError} `timed_out` when stdin does not end within `timeoutMs`; `no_prompt` when nothing is
 * there; `usage` when it is not UTF-8 or too long.
 */
export async function readPrompt(stdin: InputStream, timeoutMs: number): Promise<string> {
  if (stdin.isTerminal()) throw noPrompt("stdin is a terminal");
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stdin.readable.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => timer = setTimeout(() => resolve("late"), timeoutMs));
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), late]);
      if (next === "late") {
        throw new RepriseError(
          "timed_out",
          `Cannot read the prompt from stdin: it did not end within ${
            counted(timeoutMs / 1000, "second")
          } (--timeout)`,
          { hint: "Give the prompt as an argument, or close the pipe" },
        );
      }
      if (next.done) break;
      size += next.value.length;
      if (size > MAX_PROMPT_BYTES) {
        throw new RepriseError(
          "usage",
          `Cannot use a prompt of more than ${MAX_PROMPT_BYTES} bytes from stdin`,
          {
            hint: "Put it into a file of the workspace and name that in the prompt",
          },
        );
      }
      chunks.push(next.value);
    }
  } finally {
    clearTimeout(timer);
  }
  const text = decode(chunks);
  if (text.trim() === "") throw noPrompt("stdin is empty");
  return text;
}

/** The error of a run without a prompt. */
export function noPrompt(why: string): RepriseError {
  return new RepriseError("no_prompt", `Cannot start a run without a prompt: ${why}`, {
    hint: 'Give it as an argument (reprise run "…"), or pipe it in (… | reprise run)',
  });
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch (cause) {
    throw new RepriseError("usage", "Cannot use the prompt from stdin: it is not valid UTF-8", {
      hint: "Convert it first, such as with iconv, or put it into a file of the workspace",
      cause,
    });
  }
}

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

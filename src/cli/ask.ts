import type { Answer, Ask, Question } from "../run/permission_gate.ts";
import type { Output } from "./output.ts";
import { visibleText } from "./terminal.ts";

/**
 * A way to ask the person at the terminal, or `null` where nobody can be asked: no question is ever printed
 * unless stdin and stderr both are terminals.
 *
 * The terminal stays in its ordinary line mode, so there is nothing to restore however the run ends.
 */
export function askAtTerminal(output: Output, signal: AbortSignal): Ask | null {
  if (!Deno.stdin.isTerminal() || !output.stderrIsTerminal) return null;
  return async (question) => {
    output.prompt(questionText(question));
    return answerOf(await readLine(signal));
  };
}

/** Exactly what would run, with nothing in it that a terminal would obey. */
export function questionText({ subject, argumentsText }: Question): string {
  const { target } = subject;
  const what = target.kind === "command"
    ? target.line
    : target.kind === "path"
    ? `${target.path}\n${argumentsText}`
    : argumentsText;
  const shown = visibleText(what).split("\n").map((line) => `  │ ${line}`).join("\n");
  return `\nThe model wants to run ${
    visibleText(subject.tool)
  }:\n${shown}\nAllow? [y]es, [n]o, [a]lways this in this run: `;
}

/** Anything but a clear yes is a no. */
function answerOf(line: string): Answer {
  const word = line.trim().toLowerCase();
  if (word === "y" || word === "yes") return "yes";
  return word === "a" || word === "always" ? "always" : "no";
}

/** One line of stdin; empty at its end, and when the run is stopped meanwhile. */
async function readLine(signal: AbortSignal): Promise<string> {
  const buffer = new Uint8Array(1024);
  const stopped = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
  let line = "";
  const decoder = new TextDecoder();
  while (!line.includes("\n")) {
    const count = await Promise.race([Deno.stdin.read(buffer), stopped]);
    if (count === null) break;
    line += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return line.split("\n", 1)[0] ?? "";
}

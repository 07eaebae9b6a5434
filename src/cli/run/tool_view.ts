/** Calls of tools for people: their output while they run, and the denied ones at the end. */
import { counted } from "../../domain/text.ts";
import type { DeniedCall } from "../../schemas/run_events.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";

/** Most lines of a call's output that are shown while it runs. */
const MAX_OUTPUT_LINES = 20;
/** Most characters of them, in UTF-16 units. */
const MAX_OUTPUT_CHARS = 4000;
/** Most denied calls that are named. */
const MAX_DENIED = 10;

const MARGIN = "  │ ";

/** The output of one call as far as it is shown: its first lines, each after a margin. */
export class ShownOutput {
  #lines = 0;
  #chars = 0;
  #isFull = false;
  isAtLineStart = true;

  /** The text to print for the next piece of output; empty after the cap. */
  next(piece: string): string {
    if (this.#isFull) return "";
    let text = "";
    for (const part of piece.replace(/\r\n?/g, "\n").split(/(?<=\n)/)) {
      if (part === "") continue;
      this.#chars += part.length;
      if (this.#lines === MAX_OUTPUT_LINES || this.#chars > MAX_OUTPUT_CHARS) {
        this.#isFull = true;
        const end = this.isAtLineStart ? "" : "\n";
        this.isAtLineStart = true;
        return `${text}${end}${MARGIN}…\n`;
      }
      text += this.isAtLineStart ? `${MARGIN}${part}` : part;
      this.isAtLineStart = part.endsWith("\n");
      if (this.isAtLineStart) this.#lines++;
    }
    return text;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  not_allowed: "not allowed",
  no_terminal: "no terminal to ask on",
  asked_no: "the answer was no",
  unclear_command: "a rule denies some commands, and only a shell can tell what this one does",
};

/** A line for each denied call, with the flag that would allow it. Equal lines come once. */
export function deniedLines(denied: readonly DeniedCall[]): string[] {
  const lines = [...new Set(denied.map(deniedLine))];
  const rest = lines.length - MAX_DENIED;
  return rest <= 0 ? lines : [...lines.slice(0, MAX_DENIED), `denied: ${counted(rest, "more call")}`];
}

function deniedLine({ tool, target, reason, rule, allow }: DeniedCall): string {
  const why = rule === null || reason !== "denied_by_rule" ? REASONS[reason] ?? reason : `by --deny ${rule}`;
  const call = target === null ? tool : `${tool} ${target.replaceAll("\n", " ")}`;
  const flag = allow === null ? "" : `; to allow it: ${commandLine(["--allow", allow])}`;
  return `denied: ${call} (${why})${flag}`;
}

/** Text of a question about a call: the exact command, or the change of a file as a diff. */
import { counted, headOf } from "../../domain/text.ts";
import type { Question } from "../../run/permission_gate.ts";
import { hunksOf, linesOf } from "../changed_lines.ts";
import type { FileChange } from "../../tools/tool.ts";
import { bold, cyan, dim, green, type Printable, red, type Styled } from "../terminal.ts";

/** Most lines of a diff, and of a new file, that are shown. */
const MAX_LINES = 60;
/** Longest line of a diff that is shown whole, in UTF-16 units. */
const MAX_LINE_CHARS = 400;

/** The question, without its choices. The output escapes control characters. */
export function questionText({ subject, argumentsText, change, number, of }: Question): Printable {
  const { tool, target } = subject;
  const count = of > 1 ? `${number} of ${of}: ` : "";
  if (change !== null && target.kind === "path") {
    const verb = change.before === null ? "create" : "change";
    const part = change.isPart ? ", which does not fit the file as it is now" : "";
    const title = `\n${count}The model wants to ${verb} ${target.path} (${tool})${part}:\n`;
    return [bold(title), ...framed(changeLines(change))];
  }
  const text = target.kind === "command"
    ? target.line
    : target.kind === "path"
    ? `${target.path}\n${argumentsText}`
    : argumentsText;
  return [bold(`\n${count}The model wants to run ${tool}:\n`), ...framed(text.split("\n"))];
}

function framed(lines: readonly (string | Styled)[]): (string | Styled)[] {
  return lines.flatMap((line) => ["  │ ", line, "\n"]);
}

function changeLines({ before, after, isPart }: FileChange): (string | Styled)[] {
  if (before === null) {
    const lines = linesOf(after).map((line) => marked("+", line));
    const rest = lines.length - MAX_LINES;
    return rest <= 0
      ? lines.length === 0 ? [dim("(empty)")] : lines
      : [...lines.slice(0, MAX_LINES), dim(`… ${counted(rest, "more line")}`)];
  }
  const lines = hunksOf(before, after, { isPart }).flatMap(({ oldStart, lines }) => [
    ...(isPart ? [] : [cyan(`line ${oldStart}`)]),
    ...lines.map(({ sign, text }) => marked(sign, text)),
  ]);
  if (lines.length === 0) return [dim("(no difference)")];
  const rest = lines.length - MAX_LINES;
  return rest <= 0 ? lines : [...lines.slice(0, MAX_LINES), dim(`… ${counted(rest, "more line")}`)];
}

function marked(sign: string, line: string): string | Styled {
  const more = line.length - MAX_LINE_CHARS;
  const shown = more <= 0 ? line : `${headOf(line, MAX_LINE_CHARS)} … ${counted(more, "more character")}`;
  if (sign === "-") return red(`- ${shown}`);
  if (sign === "+") return green(`+ ${shown}`);
  return sign === "\\" ? dim(shown.trim()) : `  ${shown}`;
}

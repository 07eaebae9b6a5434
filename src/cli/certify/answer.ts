/** The answer of a command, and where its output holds it. */
import { headOf } from "../../domain/text.ts";
import type { Run } from "./cell_run.ts";

/** Text of the model that the command prints; or else the lines that two runs have in common. */
export type Answer = { readonly text: string } | { readonly lines: readonly string[] };

/** Longest text that counts only as a word of its own. */
const SHORT = 16;
const SHOWN = 80;

/**
 * Finds the answer that two runs print: the last of the recorded texts that both hold, else the lines that both have.
 * Times and ids differ between two runs, and do not count. `null` if the runs print nothing that is the same.
 */
export function commonAnswer(runs: readonly [Run, Run], texts: readonly string[]): Answer | null {
  const found = texts.findLast((text) => plain(text) !== "" && runs.every((run) => holds(run, { text })));
  if (found !== undefined) return { text: found };
  const [first, second] = runs.map(linesOf) as [string[], string[]];
  const lines = first.filter((line) => second.includes(line));
  return lines.length === 0 ? null : { lines };
}

/** True if stdout or the answer's file holds the answer. */
export function holds(run: Run, answer: Answer): boolean {
  if ("lines" in answer) {
    const lines = linesOf(run);
    return answer.lines.every((line) => lines.includes(line));
  }
  return [run.stdout, run.answer].some((output) => placeOf(output, answer.text) !== -1);
}

/** True if parts of a broken answer come before the whole one. */
export function isGarbled(run: Run, answer: Answer, part: string): boolean {
  if ("lines" in answer || plain(part) === "") return false;
  const before = plain(run.stdout).slice(0, Math.max(0, placeOf(run.stdout, answer.text)));
  return before.includes(plain(part));
}

/** Returns the last place of a text in an output, in both of the form of {@linkcode plain}; -1 if it is not there. */
function placeOf(output: string, text: string): number {
  const [within, words] = [plain(output), plain(text)];
  const isWord = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}]/u.test(letter);
  // Programs also print JSON with the text in it.
  for (const form of [words, plain(JSON.stringify(words).slice(1, -1))]) {
    for (
      let at = within.lastIndexOf(form);
      at !== -1;
      at = at === 0 ? -1 : within.lastIndexOf(form, at - 1)
    ) {
      const isWhole = !isWord(within[at - 1]) && !isWord(within[at + form.length]);
      if (form.length > SHORT || isWhole) return at;
    }
  }
  return -1;
}

/** Words by which programs name an error. */
const ERROR =
  /error|exception|fail|fatal|panic|abort|timed? ?out|refused|cannot|could not|unable|unexpected|retry/i;

/** True if stderr names an error that it does not name without the fault. */
export function namesError({ stderr }: Run, { errors }: { readonly errors: string }): boolean {
  const known = new Set(plainLines(errors));
  return plainLines(stderr).some((line) => ERROR.test(line) && !known.has(line));
}

/** True if any output names an error. */
export function saysWhy(run: Run, baseline: { readonly errors: string }): boolean {
  return namesError(run, baseline) || ERROR.test(run.stdout);
}

/** Returns the end of the output, for a message. */
export function shownOutput({ stdout, answer }: Run): string {
  return headOf(plainLines(answer).at(-1) ?? plainLines(stdout).at(-1) ?? "", SHOWN);
}

function linesOf({ stdout, answer }: Run): string[] {
  return [...plainLines(stdout), ...plainLines(answer)];
}

function plainLines(output: string): string[] {
  return output.split(/[\r\n]+/).map(plain).filter((line) => line !== "");
}

/** Returns a text without colours and with single spaces. */
function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g, "").replace(
    /\s+/g,
    " ",
  ).trim();
}

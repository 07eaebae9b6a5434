/** The verb `completions`: prints the scripts for shells, and answers them. */
import type { ExitCode } from "../../domain/errors.ts";
import { makeOutput } from "../context.ts";
import type { CommonFlags } from "../flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { FIXTURE_VERBS, VERBS } from "../verbs.ts";
import { type Answer, complete } from "./answer.ts";
import { completedVerbs } from "./model.ts";
import { SCRIPTS } from "./scripts.ts";

/** Performs `completions`; the parser has checked `shell`. */
export function completionsVerb(
  ports: ProgramPorts,
  shell: string,
  words: readonly string[],
  flags: CommonFlags,
): ExitCode {
  const output = makeOutput(ports, flags);
  const text = textOf(ports, shell, words);
  if (output.options.json) output.json<"completions">({ shell, text });
  else output.text(text);
  return 0;
}

function textOf(ports: ProgramPorts, shell: string, words: readonly string[]): string {
  if (Object.hasOwn(SCRIPTS, shell)) return SCRIPTS[shell as keyof typeof SCRIPTS];
  return lines(complete(ports, words, completedVerbs({ top: VERBS, fixture: FIXTURE_VERBS })));
}

function lines(answer: Answer): string {
  if (answer.kind === "command") return `command ${answer.from}\n`;
  if (answer.kind !== "words") return `${answer.kind}\n`;
  return ["words", ...answer.candidates.map(([word, about]) => about === "" ? word : `${word}\t${about}`), ""]
    .join("\n");
}

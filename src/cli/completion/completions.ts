/** The verb `completions`: generates scripts for shells and the man page from the declarations of all verbs. */
import type { ExitCode } from "../../domain/errors.ts";
import { makeOutput } from "../context.ts";
import type { CommonFlags } from "../flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { FIXTURE_VERBS, VERBS } from "../verbs.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { manPage } from "./man.ts";
import { completedVerbs } from "./model.ts";
import { zshScript } from "./zsh.ts";

const TEXTS = { bash: bashScript, zsh: zshScript, fish: fishScript, man: manPage };

/** Performs `completions`; the parser has checked `shell`. */
export function completionsVerb(ports: ProgramPorts, shell: string, flags: CommonFlags): ExitCode {
  const output = makeOutput(ports, flags);
  const text = TEXTS[shell as keyof typeof TEXTS](completedVerbs({ top: VERBS, fixture: FIXTURE_VERBS }));
  if (output.options.json) output.json<"completions">({ shell, text });
  else output.text(text);
  return 0;
}

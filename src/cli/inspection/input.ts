/** The verb `input`: the exact request body that the next run would send. */
import type { ExitCode } from "../../domain/errors.ts";
import { readSession, readSessionTail } from "../../store/read/session.ts";
import type { InputFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { nextRequest } from "../run/next_request.ts";
import { textOrFile } from "../run/run_settings.ts";
import { sessionArgument } from "../session_argument.ts";
import { sessionInstructions } from "../run/session_instructions.ts";

/** Performs `input`. The body itself is JSON: it is printed the same with and without `--json`. */
export function inputVerb(ports: ProgramPorts, selector: string, flags: InputFlags): ExitCode {
  const context = makeContext(ports, flags);
  const { config, output } = context;
  const { home, id } = sessionArgument(context, selector);
  const view = readSessionTail(ports, home, id);
  const { built } = nextRequest({
    ports,
    flags,
    config,
    fixture: null,
    manifest: view.manifest,
    turns: view.turns,
    allTurns: () => readSession(ports, home, id).turns,
    instructions: flags.instructions === undefined
      ? sessionInstructions(ports, home, view, (message) => output.note(message))
      : textOrFile(ports, flags.instructions, "--instructions"),
    family: id,
  }, flags.prompt === undefined ? null : [{ type: "input_text", text: flags.prompt.toWellFormed() }]);
  output.jsonText(`${built.body}\n`);
  return 0;
}

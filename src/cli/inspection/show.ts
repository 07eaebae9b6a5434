/** The verb `show`: prints a session, as a transcript, as turns, as events, or one file as it is. */
import type { ExitCode } from "../../domain/errors.ts";
import { readTurnBytes } from "../../store/read/turn_file.ts";
import { readForShow, type ShownTurn } from "../../store/read/show.ts";
import type { ShowFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { eventLine, transcript, turnLine } from "./session_text.ts";
import { sessionArgument } from "../session_argument.ts";

/** Performs `show`. What can be read is shown; damage beside it is named, and is exit code 12. */
export function showVerb(ports: ProgramPorts, selector: string, flags: ShowFlags): ExitCode {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  if (flags.raw !== undefined) {
    output.bytes(readTurnBytes(ports, home, { id, turn: flags.raw }));
    return 0;
  }
  const { path, manifest, turns, problems } = readForShow(ports, home, id);
  const exitCode = problems.length === 0 ? 0 : 12;
  if (output.options.json) {
    const found = problems.length === 0 ? {} : { problems };
    if (flags.turns) output.json({ session: id, turns: turns.map(turnHeader), ...found });
    else if (flags.events) output.json({ session: id, events: turns.flatMap(eventsOf), ...found });
    else output.json({ session: id, path, manifest, turns: turns.map(({ value }) => value), ...found });
    return exitCode;
  }
  if (flags.turns) { for (const turn of turns) output.text(`${turnLine(turn)}\n`); }
  else if (flags.events) {
    for (const event of turns.flatMap(eventsOf)) {
      output.text(`${eventLine(event)}\n`);
    }
  } else output.text(transcript(turns));
  for (const problem of problems) output.note(`damaged: ${problem.path} ${problem.message}`);
  return exitCode;
}

function eventsOf(turn: ShownTurn): ShownTurn["events"] {
  return turn.events;
}

/** A turn with the number of its events in their place. */
function turnHeader({ value, events }: ShownTurn) {
  return { ...value, events: events.length };
}

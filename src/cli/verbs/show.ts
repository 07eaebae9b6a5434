/** The verb `show`: prints a session, as a transcript, as turns, as events, or one file as it is. */
import { type ExitCode, ReprError } from "../../domain/errors.ts";
import type { SessionEvent } from "../../domain/event.ts";
import type { Turn } from "../../domain/turn.ts";
import { readForShow, readTurnBytes } from "../../store/read.ts";
import { type CommonFlags, makeContext } from "../context.ts";
import { eventLine, transcript } from "../session_text.ts";
import { sessionArgument } from "../session_argument.ts";

/** The flags of `show`. */
export interface ShowFlags extends CommonFlags {
  readonly turns?: true | undefined;
  readonly events?: true | undefined;
  readonly raw?: number | undefined;
}

/** Performs `show`. */
export function showVerb(selector: string, flags: ShowFlags): ExitCode {
  const views = [flags.turns === true, flags.events === true, flags.raw !== undefined].filter(Boolean);
  if (views.length > 1) throw new ReprError("usage", "Cannot show more than one of --turns, --events and --raw");
  const context = makeContext(flags);
  const { ports, output } = context;
  const { home, id } = sessionArgument(context, selector);
  if (flags.raw !== undefined) {
    output.raw(new TextDecoder().decode(readTurnBytes(ports, home, { id, turn: flags.raw })));
    return 0;
  }
  const session = readForShow(ports, home, id);
  const { turns } = session;
  if (output.options.json) {
    if (flags.turns) output.json({ session: id, turns: turns.map(turnHeader) });
    else if (flags.events) output.json({ session: id, events: turns.flatMap((turn) => turn.events) });
    else output.json({ session: id, path: session.path, manifest: session.manifest, turns });
    return 0;
  }
  if (flags.turns) for (const turn of turns) output.text(`${turnLine(turn)}\n`);
  else if (flags.events) for (const event of turns.flatMap(eventsOf)) output.text(`${eventLine(event)}\n`);
  else output.text(transcript(turns));
  return 0;
}

function eventsOf(turn: Turn): readonly SessionEvent[] {
  return turn.events;
}

function turnHeader(turn: Turn) {
  const { events, ...header } = turn;
  return { ...header, events: events.length };
}

function turnLine(turn: Turn): string {
  const kinds = new Map<string, number>();
  for (const { type } of turn.events) kinds.set(type, (kinds.get(type) ?? 0) + 1);
  const events = [...kinds].map(([type, count]) => count === 1 ? type : `${count} ${type}`).join(", ");
  const [first, last] = turn.seq;
  return `${String(turn.turn).padStart(6, "0")}  run ${turn.run}  ${turn.kind.padEnd(7)}  seq ${first}-${last}  ${turn.at}  ${events}`;
}

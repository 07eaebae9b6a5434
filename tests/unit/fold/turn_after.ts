import { type Turn, TURN_FORMAT, type TurnDraft } from "../../../src/domain/turn.ts";

/** The next turn of a history in memory: numbered, and without real sums. */
export function turnAfter(turns: readonly Turn[], draft: TurnDraft): Turn {
  const first = (turns.at(-1)?.seq[1] ?? 0) + 1;
  return {
    format: TURN_FORMAT,
    session: "s",
    turn: turns.length + 1,
    seq: [first, first + draft.events.length - 1],
    prev: null,
    at: "2026-11-21T20:18:00.000Z",
    ...draft,
    events: draft.events.map((event, index) => ({ seq: first + index, ...event })),
    sum: "0".repeat(64),
  } as Turn;
}

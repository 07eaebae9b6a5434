/** Events that a run reports while it lasts: the JSON Lines of `run --json`. */
import type { RunEvent } from "../schemas/run_events.ts";
import type { Turn } from "../domain/turn.ts";

/** Receives run events. Must not throw: a closed output stops the run through its stop signal. */
export type Emit = (event: RunEvent) => void;

/** The event that acknowledges a durable turn. */
export function savedEvent({ turn, kind, seq, sum }: Turn): RunEvent {
  return { type: "turn.saved", turn, kind, seq, sum };
}

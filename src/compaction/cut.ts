/** The place of a checkpoint: the end of a turn, never between a call and its result. */
import type { Cut } from "../schemas/maintenance.ts";
import type { Turn } from "../domain/turn.ts";

/** The newest place that keeps the tail and splits no group; `null` when there is none. */
export function findCut(turns: readonly Turn[], { tailEvents, after }: {
  /** Least number of newest events that stay. */
  readonly tailEvents: number;
  /** Last `seq` of the checkpoint in force, which the cut follows; 0 without one. */
  readonly after: number;
}): Cut | null {
  const head = turns.at(-1)?.seq[1] ?? 0;
  const limit = head - tailEvents;
  const groups = callGroups(turns);
  let moved: Group | null = null;
  for (const { turn, seq: [, last] } of turns.toReversed()) {
    if (last > limit) continue;
    if (last <= after) return null;
    const split = groups.find(({ call, result }) => call <= last && last < result);
    if (split === undefined) return { turn, seq: last, why: reasonOf(turn, tailEvents, moved) };
    moved ??= split;
  }
  return null;
}

function reasonOf(turn: number, tailEvents: number, moved: Group | null): string {
  const newest = tailEvents === 0
    ? `Turn ${turn} is the newest one`
    : `Turn ${turn} is the last to end before the newest ${
      tailEvents === 1 ? "event" : `${tailEvents} events`
    }`;
  if (moved === null) return newest;
  const answer = moved.result === Infinity ? "has no result yet" : `is answered in seq ${moved.result}`;
  return `${newest} without splitting a group: the call in seq ${moved.call} ${answer}`;
}

/** A call, and where what belongs to it ends. */
interface Group {
  readonly call: number;
  readonly result: number;
}

/**
 * Every call with its result. One without a result reaches to the end while its run is open, because the result is
 * still to come. Reasoning and what follows it lie in one turn, which no cut splits.
 */
function callGroups(turns: readonly Turn[]): Group[] {
  const results = new Map<number, number>();
  const open = new Set<number>();
  for (const turn of turns) {
    for (const event of turn.events) {
      if (event.type === "tool_result") {
        results.set(event.call_seq, Math.max(event.seq, results.get(event.call_seq) ?? 0));
        open.delete(event.call_seq);
      } else if (event.type === "tool_call") open.add(event.seq);
      else if (
        event.type === "run_ended" || event.type === "user_message" || event.type === "run_continued"
      ) {
        open.clear();
      }
    }
  }
  return [
    ...Array.from(results, ([call, result]) => ({ call, result })),
    ...Array.from(open, (call) => ({ call, result: Infinity })),
  ];
}

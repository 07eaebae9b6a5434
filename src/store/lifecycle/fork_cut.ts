/**
 * Where a history may be cut: behind a turn, and between no call and its result.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/turn.ts";

/** The last turn and event that a prefix keeps. */
export interface Cut {
  readonly turn: number;
  readonly seq: number;
}

/** A stretch of turns behind none of which the history may be cut, and why. */
interface Group {
  readonly callSeq: number;
  readonly first: number;
  /** The first turn behind which a cut is fine again. */
  readonly until: number;
}

/** Every place where `turns`, a whole history, may be cut, in order. Turn 1 opens a run, so there is always one. */
export function cutsOf(turns: readonly Turn[]): Cut[] {
  const groups = groupsOf(turns);
  let next = 0;
  let until = 0;
  return turns.flatMap(({ turn, seq }): Cut[] => {
    for (let group = groups[next]; group !== undefined && group.first <= turn; group = groups[++next]) {
      until = Math.max(until, group.until);
    }
    return turn < until ? [] : [{ turn, seq: seq[1] }];
  });
}

/**
 * The cut that `toSeq` asks for; without it, the last one there is.
 *
 * @throws {RepriseError} `usage`, naming the nearest place, when the history may not be cut there.
 */
export function cutAt(turns: readonly Turn[], toSeq: number | undefined, tried: string): Cut {
  const cuts = cutsOf(turns);
  const last = cuts.at(-1);
  if (last === undefined) throw new TypeError(`Cannot ${tried}: its first turn opens no run`);
  if (toSeq === undefined) return last;
  const exact = cuts.find(({ seq }) => seq === toSeq);
  if (exact !== undefined) return exact;
  const distance = (cut: Cut) => Math.abs(cut.seq - toSeq);
  const nearest = cuts.reduce((best, cut) => distance(cut) < distance(best) ? cut : best);
  throw new RepriseError("usage", `Cannot ${tried} at seq ${toSeq}: ${whyNot(turns, toSeq)}`, {
    hint: `The nearest place is --to-seq ${nearest.seq}`,
    details: { to_seq: toSeq, nearest: nearest.seq },
  });
}

function whyNot(turns: readonly Turn[], toSeq: number): string {
  const turn = turns.find(({ seq }) => seq[0] <= toSeq && toSeq <= seq[1]);
  if (turn === undefined) return `the newest event is ${turns.at(-1)?.seq[1] ?? 0}`;
  if (turn.seq[1] !== toSeq) return `it lies inside turn ${turn.turn}, whose last seq is ${turn.seq[1]}`;
  const group = groupsOf(turns).find(({ first, until }) => first <= turn.turn && turn.turn < until);
  return `it would part the call with seq ${group?.callSeq} from its result`;
}

/** Calls of responses that did not complete are never run: nothing answers them, and they hold nothing together. */
function groupsOf(turns: readonly Turn[]): Group[] {
  const answeredIn = new Map<number, number>();
  const endOf = new Map<number, number>();
  for (const { turn, run, events } of turns) {
    // A run that was killed and never closed ends where the next one opens.
    if (run > 1 && !endOf.has(run - 1)) endOf.set(run - 1, turn);
    for (const event of events) {
      // A fallback result may be recorded long after its call: a fork from before it records its own.
      if (event.type === "tool_result" && event.status !== "orphaned") answeredIn.set(event.call_seq, turn);
      if (event.type === "run_ended") endOf.set(run, turn);
    }
  }
  return turns.flatMap((turn): Group[] => {
    if (turn.kind !== "model" || turn.response.status !== "completed") return [];
    return turn.events.filter(({ type }) => type === "tool_call").map(({ seq }) => ({
      callSeq: seq,
      first: turn.turn,
      // A call that nothing answers is open for as long as its run is.
      until: answeredIn.get(seq) ?? endOf.get(turn.run) ?? turns.length + 1,
    }));
  });
}

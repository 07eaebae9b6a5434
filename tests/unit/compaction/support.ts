/**
 * Support for the tests of compaction: checkpoints written as `compact` writes them, in memory.
 *
 * @module
 */
import { deterministicText } from "../../../src/compaction/deterministic.ts";
import {
  checkpointEvent,
  type CheckpointText,
  latestCheckpoint,
  scopeOf,
} from "../../../src/compaction/plan.ts";
import type { HistoryCompactionEvent } from "../../../src/domain/event.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { foldHistory } from "../../../src/fold/fold.ts";

/** The turns and one more. */
export function withEvent(turns: readonly Turn[], event: object, kind: Turn["kind"] = "harness"): Turn[] {
  const last = turns.at(-1);
  const seq = (last?.seq[1] ?? 0) + 1;
  const turn = { ...last, kind, turn: (last?.turn ?? 0) + 1, seq: [seq, seq], events: [{ seq, ...event }] };
  return [...turns, turn as unknown as Turn];
}

/** The turns and a checkpoint, and its event. */
export function compacted(
  turns: readonly Turn[],
  options: { readonly tailEvents: number; readonly target: FoldTarget; readonly text?: CheckpointText },
): { readonly turns: Turn[]; readonly event: Omit<HistoryCompactionEvent, "seq"> } {
  const scope = scopeOf(turns, options);
  const event = checkpointEvent(turns, scope, options.text ?? deterministicText(turns, scope));
  return { turns: withEvent(turns, event, "compaction"), event };
}

/** The turns with the latest checkpoint withdrawn. */
export function withdrawn(turns: readonly Turn[]): Turn[] {
  const latest = latestCheckpoint(turns);
  if (latest === null) throw new Error("There is no checkpoint to withdraw");
  const { checkpoint, restored } = latest;
  return withEvent(turns, { type: "compaction_withdrawn", checkpoint: checkpoint.seq, restored });
}

/** Turns that opening reads: those after the cut and, if the event names it, the turn with the user message. */
export function recent(
  turns: readonly Turn[],
  { to_turn, opening_turn }: Pick<HistoryCompactionEvent, "to_turn" | "opening_turn">,
): Turn[] {
  return turns.filter(({ turn }) => turn > to_turn || turn === opening_turn);
}

/** The body of the next request. */
export function bodyOf(turns: readonly Turn[], target: FoldTarget): string {
  const { entries } = foldHistory(turns, target);
  return responsesApi.bodyOf({ model: target.model }, entries);
}

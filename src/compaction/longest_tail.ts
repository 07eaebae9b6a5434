/**
 * Finds the longest tail with which a checkpoint makes the history small enough. Pure.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import type { Turn } from "../domain/turn.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { deterministicText } from "./deterministic.ts";
import {
  type CheckpointText,
  type CompactionPlan,
  type CompactionScope,
  historySize,
  planOf,
  scopeOf,
} from "./plan.ts";

/** A checkpoint that makes the history smaller. */
export interface MadeCheckpoint {
  readonly scope: CompactionScope;
  readonly text: CheckpointText;
  readonly plan: CompactionPlan;
}

/** Bounds of the search. */
export interface TailBounds {
  /** The most newest events that stay. */
  readonly most: number;
  /** The fewest newest events that stay. */
  readonly least: number;
  /** Estimated tokens that are small enough; without it, any gain is enough. */
  readonly limit?: number;
  readonly target: FoldTarget;
  /** The text of the checkpoint at a place; by rule if absent. */
  readonly textOf?: (scope: CompactionScope) => CheckpointText;
}

/** The result of the search. */
export interface LongestTail {
  /** The first checkpoint under the limit, otherwise the one with the smallest history; `null` if none gains. */
  readonly found: MadeCheckpoint | null;
  /** Reason why the shortest tail that gains nothing does not; `null` if every tail gains. */
  readonly why: RepriseError | null;
}

/** Bounds of {@linkcode shrink}: `least` is the number of events that the model has not seen. */
export type ShrinkBounds = Omit<TailBounds, "limit">;

/**
 * Finds the checkpoint of `compact`. It keeps the events that the model has not seen if that gains anything. After a
 * refusal for its length, the history is halved if possible: a small gain would be refused again.
 *
 * @throws {RepriseError} `nothing_to_compact` if no checkpoint makes the history smaller.
 */
export function shrink(turns: readonly Turn[], bounds: ShrinkBounds): MadeCheckpoint {
  const { most, target } = bounds;
  const limit = overflowed(turns) ? Math.floor(historySize(turns, target).tokens / 2) : Infinity;
  const { found, why } = longestTail(turns, { ...bounds, limit });
  if (found !== null && found.plan.after.tokens <= limit) return asAsked(found, most);
  const bare = longestTail(turns, { ...bounds, most: 0, least: 0 });
  const best = smaller(found, bare.found);
  if (best === null) throw bare.why ?? why ?? new TypeError("A search without a result has a reason");
  return asAsked(best, most);
}

/** Names the tail that was asked for, not the shorter one that was found. */
function asAsked({ scope, text, plan }: MadeCheckpoint, asked: number): MadeCheckpoint {
  return { scope: { ...scope, tailEvents: asked }, text, plan: { ...plan, tail: { ...plan.tail, asked } } };
}

function smaller(a: MadeCheckpoint | null, b: MadeCheckpoint | null): MadeCheckpoint | null {
  if (a === null || b === null) return a ?? b;
  return b.plan.after.bytes < a.plan.after.bytes ? b : a;
}

/** True if the newest run was refused for the length of its history, and nothing was compacted since. */
function overflowed(turns: readonly Turn[]): boolean {
  const newest = turns.flatMap(({ events }) => events).findLast(({ type }) =>
    type === "run_ended" || type === "history_compaction"
  );
  return newest?.type === "run_ended" && newest.error?.code === "context_overflow";
}

/** Halves the tail until the history is small enough. */
export function longestTail(turns: readonly Turn[], bounds: TailBounds): LongestTail {
  const { most, least, limit = Infinity, target } = bounds;
  const textOf = bounds.textOf ?? ((scope: CompactionScope) => deterministicText(turns, scope));
  let found: MadeCheckpoint | null = null;
  let why: RepriseError | null = null;
  for (let tail = most;; tail = Math.floor(tail / 2)) {
    const tailEvents = Math.max(tail, least);
    try {
      const scope = scopeOf(turns, { tailEvents, target });
      const text = textOf(scope);
      const plan = planOf(turns, scope, { text, target });
      if (found === null || plan.after.bytes < found.plan.after.bytes) found = { scope, text, plan };
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== "nothing_to_compact") throw error;
      why = error;
    }
    if (tail <= least || found !== null && found.plan.after.tokens <= limit) return { found, why };
  }
}

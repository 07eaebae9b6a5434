/**
 * Finds the longest tail with which a checkpoint makes the history small enough. Pure.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import type { Turn } from "../domain/turn.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { deterministicText } from "./deterministic.ts";
import { type CheckpointText, type CompactionPlan, type CompactionScope, planOf, scopeOf } from "./plan.ts";

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

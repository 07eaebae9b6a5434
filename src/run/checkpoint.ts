/**
 * Checkpoints written: between runs for `compact`, between two requests of a run for `--auto-compact`.
 *
 * @module
 */
import { deterministicText } from "../compaction/deterministic.ts";
import {
  checkpointEvent,
  type CheckpointText,
  type CompactionPlan,
  type CompactionScope,
  DEFAULT_TAIL_EVENTS,
  planOf,
  scopeOf,
} from "../compaction/plan.ts";
import { RepriseError } from "../domain/errors.ts";
import type { Usage } from "../domain/event.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { apiOf } from "../apis/apis.ts";

/** A checkpoint that is worth writing. */
export interface MadeCheckpoint {
  readonly scope: CompactionScope;
  readonly text: CheckpointText;
  readonly plan: CompactionPlan;
}

/** The turn of a checkpoint; `runUsage` where it stands inside an open run. */
export function checkpointDraft(
  turns: readonly Turn[],
  { scope, text, plan }: MadeCheckpoint,
  { run, pins, runUsage }: { readonly run: number; readonly pins: Pins; readonly runUsage?: Usage },
): TurnDraft {
  const event = checkpointEvent(turns, scope, text);
  return {
    kind: "compaction",
    run,
    pins,
    events: [{
      ...event,
      dropped: plan.dropped,
      ...(runUsage === undefined ? {} : { run_usage: runUsage }),
    }],
  };
}

/** What decides whether a run compacts before its next request. */
export interface AutoCompaction {
  /** Input tokens of a request above which the history is made smaller. */
  readonly limit: number;
  readonly target: FoldTarget;
}

/**
 * Whether the newest response says that its request was too large. One from before the newest checkpoint says nothing
 * any more, so that no checkpoint follows another without a response between them.
 */
export function isOverLimit(turns: readonly Turn[], { limit }: Pick<AutoCompaction, "limit">): boolean {
  const newest = turns.findLast(({ kind }) => kind === "model" || kind === "compaction");
  if (newest?.kind !== "model") return false;
  const usage = newest.events.findLast((event) => event.type === "provider_usage");
  if (usage === undefined) return false;
  return apiOf(newest.fingerprint.provider).usageOf(usage.usage).input_tokens > limit;
}

/**
 * A checkpoint by rule that brings the next request under the limit, with as much of the tail as that allows; the
 * smallest history otherwise. What the model has not seen yet always stays, with the response that asked for it:
 * without the results of its calls it would ask for them again, and again. `null` when nothing would shrink: the run
 * goes on as it is.
 */
export function automaticCheckpoint(
  turns: readonly Turn[],
  { limit, target }: AutoCompaction,
): MadeCheckpoint | null {
  let best: MadeCheckpoint | null = null;
  const least = unseenEvents(turns);
  for (let half = DEFAULT_TAIL_EVENTS;; half = Math.floor(half / 2)) {
    const tailEvents = Math.max(half, least);
    const made = orNothing(() => {
      const scope = scopeOf(turns, { tailEvents, target });
      const text = deterministicText(turns, scope);
      return { scope, text, plan: planOf(turns, scope, { text, target }) };
    });
    if (made !== null && (best === null || made.plan.after.bytes < best.plan.after.bytes)) best = made;
    if (half <= least || best !== null && best.plan.after.tokens <= limit) return best;
  }
}

/** How many events there are since the newest response began, or since what the user said after it. */
function unseenEvents(turns: readonly Turn[]): number {
  const newest = turns.findLast(({ kind }) => kind === "model" || kind === "user");
  return newest === undefined ? 0 : (turns.at(-1)?.seq[1] ?? 0) - newest.seq[0] + 1;
}

function orNothing(make: () => MadeCheckpoint): MadeCheckpoint | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof RepriseError && error.code === "nothing_to_compact") return null;
    throw error;
  }
}

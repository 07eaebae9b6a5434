/** Finds what makes a history smaller for `compact`: a checkpoint, shortened results, or both. Pure. */
import type { ResultElidedEvent } from "../domain/event.ts";
import { headOf, tailOf } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";
import { foldHistory } from "../fold/fold.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { RepriseError } from "../domain/errors.ts";
import { deterministicText } from "./deterministic.ts";
import {
  checkpointEvent,
  type CheckpointText,
  type CompactionPlan,
  type CompactionScope,
  historySize,
  planOf,
  scopeOf,
  withPreview,
} from "./plan.ts";
import type { HistorySize } from "../schemas/maintenance.ts";

/** A checkpoint that makes the history smaller. */
interface MadeCheckpoint {
  readonly scope: CompactionScope;
  readonly text: CheckpointText;
  readonly plan: CompactionPlan;
}

/** The event that shortens a result, without its `seq`. */
type ElisionDraft = Omit<ResultElidedEvent, "seq">;

/** Changes that make a history smaller: at least one of the two. */
export interface Shrunk {
  readonly checkpoint: MadeCheckpoint | null;
  readonly elided: readonly ElisionDraft[];
  readonly before: HistorySize;
  readonly after: HistorySize;
}

/** Bounds of {@linkcode shrink}. */
interface ShrinkBounds {
  /** The most newest events that stay. */
  readonly most: number;
  /** The fewest newest events that stay: those that the model has not seen. */
  readonly least: number;
  readonly target: FoldTarget;
  /** The text of the checkpoint at a place; by rule if absent. */
  readonly textOf?: (scope: CompactionScope) => CheckpointText;
  /** False if results stay whole. */
  readonly elides: boolean;
  /** True for an open run that was refused for its length: what the model has not seen stays. */
  readonly isOpen?: boolean;
}

/**
 * Finds the changes of `compact`. Events that the model has not seen stay if that gains anything; the longest results
 * among them are shortened before they go. After a refusal for its length, the history is halved if possible: a small
 * gain would be refused again.
 *
 * @throws {RepriseError} `nothing_to_compact` if nothing makes the history smaller.
 */
export function shrink(turns: readonly Turn[], bounds: ShrinkBounds): Shrunk {
  const { most, target, elides, isOpen = false } = bounds;
  const before = historySize(turns, target);
  const limit = isOpen || overflowed(turns) ? Math.floor(before.tokens / 2) : Infinity;
  const { found, why } = longestTail(turns, bounds, limit);
  const base = { before, elided: [] };
  const candidates: Shrunk[] = found === null
    ? []
    : [{ ...base, checkpoint: found, after: found.plan.after }];
  const isEnough = ({ after }: Shrunk) => after.tokens <= limit;
  if (!candidates.some(isEnough) && elides) {
    const kept = found === null
      ? turns
      : withPreview(turns, [checkpointEvent(turns, found.scope, found.text)]);
    const elided = elisions(kept, target, limit);
    if (elided.length > 0) {
      const after = historySize(withPreview(kept, elided), target);
      candidates.push({ before, checkpoint: found, elided, after });
    }
  }
  const bare = candidates.some(isEnough) || isOpen
    ? { found: null, why: null }
    : longestTail(turns, { ...bounds, most: 0, least: 0 });
  if (bare.found !== null) {
    candidates.push({ ...base, checkpoint: bare.found, after: bare.found.plan.after });
  } else if (candidates.length === 0) {
    throw bare.why ?? why ?? new TypeError("A search that fails has a reason");
  }
  const best = candidates.find(isEnough) ??
    candidates.reduce((a, b) => b.after.bytes < a.after.bytes ? b : a);
  return { ...best, checkpoint: best.checkpoint === null ? null : asAsked(best.checkpoint, most) };
}

/**
 * Halves the tail until the history has at most `limit` tokens. `found` is the first such checkpoint, otherwise the one
 * with the smallest history; `why` says why the shortest tail that gains nothing does not.
 */
export function longestTail(
  turns: readonly Turn[],
  bounds: Omit<ShrinkBounds, "elides" | "isOpen">,
  limit = Infinity,
): { readonly found: MadeCheckpoint | null; readonly why: RepriseError | null } {
  const { most, least, target } = bounds;
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

/** Names the requested tail instead of the shorter one that was found. */
function asAsked({ scope, text, plan }: MadeCheckpoint, asked: number): MadeCheckpoint {
  return { scope: { ...scope, tailEvents: asked }, text, plan: { ...plan, tail: { ...plan.tail, asked } } };
}

/** True if the newest run was refused for the length of its history, and nothing was compacted since. */
function overflowed(turns: readonly Turn[]): boolean {
  const newest = turns.flatMap(({ events }) => events).findLast(({ type }) =>
    type === "run_ended" || type === "history_compaction" || type === "result_elided"
  );
  return newest?.type === "run_ended" && newest.error?.code === "context_overflow";
}

/** UTF-16 units of a shortened output that stay: most of its beginning, and its end. */
const KEPT_HEAD = 1_500;
const KEPT_TAIL = 500;
/** Outputs up to this length in UTF-16 units stay whole. */
const OVERSIZED = 4_000;

/** Shortens the longest results until the history has at most `limit` tokens; one if there is no limit. */
function elisions(turns: readonly Turn[], target: FoldTarget, limit: number): ElisionDraft[] {
  const { entries, seqs } = foldHistory(turns, target);
  const results = entries.flatMap((entry, index) =>
    entry.kind === "tool_result" && entry.output.length > OVERSIZED && (seqs[index] ?? 0) > 0
      ? [{ seq: seqs[index] ?? 0, output: entry.output }]
      : []
  ).sort((a, b) => b.output.length - a.output.length || a.seq - b.seq);
  const elided: ElisionDraft[] = [];
  for (const { seq, output } of results) {
    elided.push({ type: "result_elided", result_seq: seq, kept: shortened(output) });
    if (historySize(withPreview(turns, elided), target).tokens <= limit) break;
  }
  return elided;
}

function shortened(output: string): string {
  const [head, tail] = [headOf(output, KEPT_HEAD), tailOf(output, KEPT_TAIL)];
  const missing = output.length - head.length - tail.length;
  return `${head}\n[… ${missing} characters left out here to shorten the history; call the tool again if they are ` +
    `needed …]\n${tail}`;
}

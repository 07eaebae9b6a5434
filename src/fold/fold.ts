/**
 * Folds a history into the next request's input. Pure: the same turns and target give the same entries, whether the
 * turns come from memory or from disk.
 */
import type { DroppedItem, DropReason, Turn } from "../domain/turn.ts";
import type { FoldTarget } from "./guard.ts";
import { type Folded, HistoryFold } from "./history_fold.ts";
import { omittedItems, withNotes } from "./omissions.ts";
import { readOverrides } from "./overrides.ts";

/**
 * Newest version of the fold's rules. A request records the oldest version that makes its input, so that most
 * sessions compare across versions. Version 2: calls that were not run stay out, the newest item keeps a repeated id,
 * a late result goes to the batch of its call, an endpoint without a port may be any port, and a member that an
 * endpoint refused stays out of later items too. Version 3: a `result_elided` shortens a result. Version 4: an
 * `items_omitted` takes items out; arguments that are no JSON object are repaired for an endpoint that accepts only an
 * object. Version 5: a `calls_as_text` sends calls and their results as text; an omitted result leaves a note.
 */
export const FOLD_VERSION = 5;

/**
 * Counts the reasoning of a request, and lists its drops. Items from before the checkpoint do not count: opening does
 * not read them, and the result must not depend on the turns that were read.
 */
export function requestAccount(
  { reasoning, dropped }: Folded,
): { readonly sent: number; readonly left: number; readonly dropped: readonly DroppedItem[] } {
  const counted = reasoning.filter(({ reason }) => reason !== "before_checkpoint");
  const sent = counted.filter(({ reason }) => reason === null).length;
  return {
    sent,
    left: counted.length - sent,
    dropped: dropped.filter(({ reason }) => reason !== "before_checkpoint"),
  };
}

/** Folds a history for one target: all turns, or those that the next request needs. */
export function foldHistory(turns: readonly Turn[], target: FoldTarget): Folded {
  const overrides = readOverrides(turns, target.run, target);
  const omitted = omittedItems(turns, overrides.omissions);
  const remaining = withNotes(turns, omitted);
  const fold = (excluded: ReadonlyMap<number, DropReason>) => {
    const history = new HistoryFold(remaining.turns, target, { ...overrides, elided, excluded });
    return withOmissions(history.fold(remaining.turns), remaining.noted);
  };
  const elided = new Map([...overrides.elided].filter(([seq]) => !remaining.noted.has(seq)));
  const excluded = new Map([
    ...overrides.excluded,
    ...Array.from(overrides.asText, (seq) => [seq, "call_refused"] as const),
    ...Array.from(omitted.whole, (seq) => [seq, "omitted"] as const),
  ]);
  const whole = fold(excluded);
  const outside = outsideWindow(turns, target, whole);
  // Dropping reasoning affects the items after it, so the fold is repeated with the window's drops.
  return outside.length === 0
    ? whole
    : fold(new Map([...excluded, ...outside.map((seq) => [seq, "outside_window"] as const)]));
}

/** The fold with a report of the messages and results that a note replaces. */
function withOmissions(folded: Folded, noted: ReadonlySet<number>): Folded {
  const indexes = [...folded.seqs.keys()].filter((index) => noted.has(folded.seqs[index] ?? 0));
  const repairs = indexes.map((index) => {
    const entry = folded.entries[index];
    const callId = entry?.kind === "tool_result" ? entry.callId : "";
    return { seq: folded.seqs[index] ?? 0, kind: "content_omitted", callId } as const;
  });
  if (repairs.length === 0 && folded.dropped.every(({ reason }) => reason !== "omitted")) return folded;
  const version = Math.max(folded.version, repairs.some(({ callId }) => callId !== "") ? 5 : 4);
  return { ...folded, repairs: [...folded.repairs, ...repairs], version };
}

/** Refused items keep their place in the window: the retry must not send older reasoning instead. */
const REFUSED: ReadonlySet<DropReason> = new Set(["quarantined", "refused_in_run"]);

/**
 * Reasoning that the window leaves out: of the items before the last user message that would be sent, all but the last
 * `window`. Later reasoning is always sent: its calls may still need it (protocol §4.2).
 */
function outsideWindow(turns: readonly Turn[], target: FoldTarget, whole: Folded): number[] {
  const { window } = target;
  if (window === undefined || window === null) return [];
  let lastUser = 0;
  for (const { events } of turns) {
    for (const { type, seq } of events) if (type === "user_message") lastUser = seq;
  }
  const earlier = whole.reasoning.filter(({ reason, seq }) =>
    seq < lastUser && (reason === null || REFUSED.has(reason))
  );
  return earlier.slice(0, Math.max(0, earlier.length - window))
    .filter(({ reason }) => reason === null).map(({ seq }) => seq);
}

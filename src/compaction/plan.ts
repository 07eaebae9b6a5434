/**
 * What a compaction would do, before it does it: which events the checkpoint stands for, what stays, and what that
 * saves. Pure.
 *
 * @module
 */
import type { CompactionStrategy, HistoryCompactionEvent, Item } from "../domain/event.ts";
import { RepriseError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { counted } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";
import { knownAccounts } from "../fold/accounts.ts";
import { foldHistory } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { readOverrides, standingNotices } from "../fold/overrides.ts";
import { type Cut, findCut } from "./cut.ts";
import { payloadText } from "./reading.ts";
import { type HistorySize, sizeOf, TOKEN_ESTIMATE } from "./size.ts";

/** How many of the newest events stay when nobody says otherwise. */
export const DEFAULT_TAIL_EVENTS = 80;

/** What a strategy puts in the place of the events. */
export interface CheckpointText {
  readonly strategy: CompactionStrategy;
  readonly summary: string;
  readonly limitations: readonly string[];
  readonly verification?: JsonObject;
  readonly request?: JsonObject;
  readonly items?: readonly Item[];
  readonly origin?: NonNullable<HistoryCompactionEvent["origin"]>;
}

/** What a plan is made from. */
export interface PlanRequest {
  readonly tailEvents: number;
  /** The next request, whose history is to become smaller; `run` where a run is open or may be continued. */
  readonly target: FoldTarget;
}

/** A place for a checkpoint, and what it would stand for. */
export interface CompactionScope {
  readonly cut: Cut;
  /** The `seq` of the checkpoint in force, or `null`. */
  readonly previousCheckpoint: number | null;
  readonly openingTurn: number | null;
  readonly tailEvents: number;
}

/** What a compaction would do, as `--dry-run --json` shows it. */
export interface CompactionPlan {
  /** What the checkpoint stands for beyond the one before. */
  readonly range: {
    readonly from_turn: number;
    readonly to_turn: number;
    readonly from_seq: number;
    readonly to_seq: number;
    readonly events: number;
  };
  readonly tail: { readonly asked: number; readonly events: number; readonly from_seq: number | null };
  readonly cut: Cut;
  readonly previous_checkpoint: number | null;
  /** The turn whose user message stays verbatim, where the cut lies inside its run. */
  readonly opening_turn: number | null;
  readonly before: HistorySize;
  readonly after: HistorySize;
  readonly token_estimate: string;
  /** Entries that no longer go, by kind; the checkpoint before is none of them. */
  readonly dropped: Readonly<Record<string, number>>;
}

/**
 * Finds the place for a checkpoint in a whole history.
 *
 * @throws {RepriseError} `nothing_to_compact` when all that a new checkpoint could stand for is in the tail already.
 */
export function scopeOf(turns: readonly Turn[], { tailEvents, target }: PlanRequest): CompactionScope {
  const { checkpoint } = readOverrides(turns, undefined, target);
  const after = checkpoint?.to_seq ?? 0;
  const cut = findCut(turns, { tailEvents, after });
  if (cut === null) {
    const head = turns.at(-1)?.seq[1] ?? 0;
    throw nothingToCompact(
      `of its ${counted(head - after, "event")} ${after === 0 ? "" : "behind the checkpoint in force "}` +
        `the newest ${tailEvents} stay, and no turn ends before them where nothing would be split`,
      { events: head - after, tail_events: tailEvents },
    );
  }
  if (!holdsSomething(turns, after, cut.seq)) {
    throw nothingToCompact("nothing that is sent lies between the checkpoint in force and the tail", {
      tail_events: tailEvents,
    });
  }
  return {
    cut,
    previousCheckpoint: readOverrides(turns, undefined).checkpoint?.seq ?? null,
    openingTurn: openingTurnAt(turns, cut, target.run),
    tailEvents,
  };
}

/** A checkpoint of nothing but the one before would only lose detail. */
function holdsSomething(turns: readonly Turn[], after: number, to: number): boolean {
  return turns.some(({ seq, events }) =>
    seq[1] > after && seq[0] <= to &&
    events.some((event) => event.seq > after && event.seq <= to && payloadText(event) !== "")
  );
}

/**
 * The turn whose user message stays verbatim behind a cut: that of the run which goes on there. The fold finds it
 * by the same rule (`HistoryFold`); naming it lets opening read it alone.
 */
export function openingTurnAt(
  turns: readonly Turn[],
  cut: { readonly turn: number; readonly seq: number },
  run: number | undefined,
): number | null {
  const next = turns.find(({ seq, kind, events }) =>
    seq[0] > cut.seq &&
    (kind === "model" || kind === "tools" || kind === "user" ||
      events.some(({ type }) => type === "run_continued"))
  );
  const goesOn = next === undefined ? run !== undefined : next.kind !== "user";
  if (!goesOn) return null;
  return turns.findLast(({ kind, turn }) => kind === "user" && turn <= cut.turn)?.turn ?? null;
}

/** The checkpoint event of a scope, without its `seq`. */
export function checkpointEvent(
  turns: readonly Turn[],
  { cut, previousCheckpoint, openingTurn }: CompactionScope,
  { strategy, summary, limitations, ...made }: CheckpointText,
): Omit<HistoryCompactionEvent, "seq"> {
  const before = turns.filter(({ turn }) => turn <= cut.turn);
  const [notices, accounts] = [standingNotices(before), knownAccounts(before)];
  return {
    type: "history_compaction",
    to_seq: cut.seq,
    to_turn: cut.turn,
    previous_checkpoint: previousCheckpoint,
    opening_turn: openingTurn,
    strategy,
    summary,
    limitations,
    ...(notices.length === 0 ? {} : { endpoint_notices: notices }),
    ...(accounts.length === 0 ? {} : { accounts }),
    ...made,
  };
}

/**
 * What the checkpoint would do to the next request.
 *
 * @throws {RepriseError} `nothing_to_compact` when the history would not get smaller.
 */
export function planOf(
  turns: readonly Turn[],
  scope: CompactionScope,
  { text, target }: { readonly text: CheckpointText; readonly target: FoldTarget },
): CompactionPlan {
  const { cut, previousCheckpoint, openingTurn, tailEvents } = scope;
  const whole = foldHistory(turns, target);
  const folded = foldHistory([...turns, previewTurn(turns, checkpointEvent(turns, scope, text))], target);
  const [before, after] = [sizeOf(whole), sizeOf(folded)];
  if (after.bytes >= before.bytes) {
    throw nothingToCompact(
      `its history of ${counted(before.bytes, "byte")} would become one of ${after.bytes}`,
      { before: { ...before }, after: { ...after } },
    );
  }
  const head = turns.at(-1)?.seq[1] ?? 0;
  const from = 1 + (readOverrides(turns, undefined, target).checkpoint?.to_seq ?? 0);
  return {
    range: {
      from_turn: turns.find(({ seq }) => seq[1] >= from)?.turn ?? 1,
      to_turn: cut.turn,
      from_seq: from,
      to_seq: cut.seq,
      events: cut.seq - from + 1,
    },
    tail: { asked: tailEvents, events: head - cut.seq, from_seq: head > cut.seq ? cut.seq + 1 : null },
    cut,
    previous_checkpoint: previousCheckpoint,
    opening_turn: openingTurn,
    before,
    after,
    token_estimate: TOKEN_ESTIMATE,
    dropped: droppedEntries(whole, folded, previousCheckpoint),
  };
}

/** Enough of a compaction turn for the fold. */
function previewTurn(turns: readonly Turn[], event: Omit<HistoryCompactionEvent, "seq">): Turn {
  const last = turns.at(-1);
  const seq = (last?.seq[1] ?? 0) + 1;
  return {
    ...last,
    kind: "compaction",
    turn: (last?.turn ?? 0) + 1,
    seq: [seq, seq],
    events: [{ ...event, seq }],
  } as unknown as Turn;
}

function droppedEntries(whole: Folded, folded: Folded, checkpoint: number | null): Record<string, number> {
  const kept = new Set<number | null>([...folded.seqs, checkpoint]);
  const counts: Record<string, number> = {};
  whole.entries.forEach(({ kind }, index) => {
    if (!kept.has(whole.seqs[index] ?? 0)) counts[kind] = (counts[kind] ?? 0) + 1;
  });
  return counts;
}

function nothingToCompact(why: string, details: JsonObject): RepriseError {
  return new RepriseError("nothing_to_compact", `Cannot make the history smaller: ${why}`, {
    hint: "Keep fewer events with --tail-events N; 0 keeps none",
    details,
  });
}

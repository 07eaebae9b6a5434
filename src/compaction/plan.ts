/**
 * Plans a compaction: which events the checkpoint replaces, what stays, and what that saves. A checkpoint cuts at the
 * end of a turn, never between a call and its result. Pure.
 */
import type { Cut, HistorySize } from "../schemas/maintenance.ts";
import { attachmentIn } from "../domain/attachment.ts";
import type {
  CheckpointRef,
  CompactionStrategy,
  EventDraft,
  HistoryCompactionEvent,
  ResultElidedEvent,
} from "../domain/event.ts";
import { RepriseError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { counted } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";
import { knownAccounts } from "../fold/accounts.ts";
import { foldHistory } from "../fold/fold.ts";
import { type Folded, turnAfter } from "../fold/history_fold.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { standingOmissionsOf, withoutOmitted } from "../fold/omissions.ts";
import { readOverrides, standingNotices } from "../fold/overrides.ts";
import { payloadText } from "./reading.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { checkpointRefOf } from "../domain/manifest.ts";

/** Default for the number of newest events that stay. */
export const DEFAULT_TAIL_EVENTS = 80;

/** The replacement of the events, from one of the strategies. */
export interface CheckpointText {
  readonly strategy: CompactionStrategy;
  readonly summary: string;
  readonly limitations: readonly string[];
  readonly verification?: JsonObject;
  readonly request?: JsonObject;
}

export interface CompactionScope {
  readonly cut: Cut;
  /** The `seq` of the checkpoint in force, or `null`. */
  readonly previousCheckpoint: number | null;
  readonly openingTurn: number | null;
  readonly tailEvents: number;
}

/**
 * Finds the place for a checkpoint in a whole history.
 *
 * @throws {RepriseError} `nothing_to_compact` when everything that a new checkpoint could replace is in the tail already.
 */
export function scopeOf(turns: readonly Turn[], { tailEvents, target }: {
  readonly tailEvents: number;
  /** The next request, whose history is to become smaller; `run` where a run is open or may be continued. */
  readonly target: FoldTarget;
}): CompactionScope {
  const { checkpoint } = readOverrides(turns, undefined, target);
  const after = checkpoint?.to_seq ?? 0;
  const cut = findCut(turns, { tailEvents, after });
  if (cut === null) {
    const head = turns.at(-1)?.seq[1] ?? 0;
    throw nothingToCompact(
      `of its ${counted(head - after, "event")} ${after === 0 ? "" : "after the checkpoint in force "}` +
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
    previousCheckpoint: checkpoint?.seq ?? null,
    openingTurn: openingTurnAt(turns, cut, target.run),
    tailEvents,
  };
}

/** The newest place that keeps the tail and splits no group; `null` when there is none. */
function findCut(turns: readonly Turn[], { tailEvents, after }: {
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

/** A checkpoint of nothing but the one before would only lose detail. */
function holdsSomething(turns: readonly Turn[], after: number, to: number): boolean {
  return withoutOmitted(turns).some(({ seq, events }) =>
    seq[1] > after && seq[0] <= to &&
    events.some((event) => event.seq > after && event.seq <= to && payloadText(event) !== "")
  );
}

/**
 * The turn whose user message stays verbatim after a cut: that of the run which continues there. The fold finds it
 * by the same rule (`HistoryFold`); naming it lets opening read it alone.
 */
function openingTurnAt(
  turns: readonly Turn[],
  cut: { readonly turn: number; readonly seq: number },
  run: number | undefined,
): number | null {
  const next = turnAfter(turns, cut.seq);
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
  const kept = turns.find(({ turn }) => turn === openingTurn)?.seq ?? [0, 0];
  const omitted = standingOmissionsOf(turns).filter(({ seq, seqs }) =>
    seq <= cut.seq && seqs.some((each) => kept[0] <= each && each <= kept[1])
  );
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
    ...(omitted.length === 0 ? {} : { omitted }),
    ...made,
  };
}

/**
 * Works out the effect of a checkpoint on the next request.
 *
 * @throws {RepriseError} `nothing_to_compact` when the history would not get smaller.
 */
export function planOf(
  turns: readonly Turn[],
  scope: CompactionScope,
  { text, target }: { readonly text: CheckpointText; readonly target: FoldTarget },
) {
  const { cut, previousCheckpoint, openingTurn, tailEvents } = scope;
  const whole = foldHistory(turns, target);
  const folded = foldHistory(withPreview(turns, [checkpointEvent(turns, scope, text)]), target);
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

/** Effect of a compaction, as `--dry-run --json` shows it. */
export type CompactionPlan = ReturnType<typeof planOf>;

/** The turns with one more for these events: enough of a compaction turn for the fold. */
export function withPreview(turns: readonly Turn[], drafts: readonly EventDraft[]): Turn[] {
  const last = turns.at(-1);
  const seq = (last?.seq[1] ?? 0) + 1;
  const events = drafts.map((event, index) => ({ ...event, seq: seq + index }));
  const turn = {
    ...last,
    kind: "compaction",
    turn: (last?.turn ?? 0) + 1,
    seq: [seq, seq + events.length - 1],
  };
  return [...turns, { ...turn, events } as unknown as Turn];
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
  return new RepriseError("nothing_to_compact", `Nothing to compact: ${why}`, {
    details,
  });
}

export const TOKEN_ESTIMATE =
  "text bytes / 4, rounded up, and 1600 for an image or a PDF: an estimate, not a count";
const IMAGE_TOKENS = 1600;

/** The size of the history in the next request to `target`. */
export function historySize(turns: readonly Turn[], target: FoldTarget): HistorySize {
  return sizeOf(foldHistory(turns, target));
}

function sizeOf({ entries }: Folded): HistorySize {
  let [text, encoded, images] = [0, 0, 0];
  for (const entry of entries) {
    text += encodeUtf8(JSON.stringify(payloadOf(entry))).length;
    for (const part of entry.kind === "user_message" ? entry.content : []) {
      const { mediaType, bytes } = attachmentIn(part) ?? { mediaType: undefined, bytes: 0 };
      if (mediaType === "text/plain") text += bytes;
      else if (mediaType !== undefined) {
        encoded += Math.ceil(bytes * 4 / 3);
        images++;
      }
    }
  }
  return {
    entries: entries.length,
    bytes: text + encoded,
    tokens: Math.ceil(text / 4) + images * IMAGE_TOKENS,
  };
}

function payloadOf(entry: FoldedEntry): unknown {
  if (entry.kind === "user_message") return entry.content;
  return entry.kind === "tool_result" ? entry.output : entry.item;
}

/** The latest compaction that still counts. */
export interface LatestCompaction {
  readonly turn: number;
  /** Its checkpoint; `null` if it only shortened results, or if its checkpoint was withdrawn. */
  readonly checkpoint: CheckpointRef | null;
  /** The checkpoint that is in force after its withdrawal. */
  readonly restored: CheckpointRef | null;
  readonly elided: readonly ResultElidedEvent[];
}

/** The newest turn whose checkpoint or shortened results count; `null` if there is none. */
export function latestCompaction(turns: readonly Turn[]): LatestCompaction | null {
  let elided: { readonly turn: number; readonly event: ResultElidedEvent }[] = [];
  for (const { turn, events } of turns) {
    for (const event of events) {
      if (event.type === "result_elided") elided.push({ turn, event });
      else if (event.type === "compaction_withdrawn") {
        elided = elided.filter(({ event: { seq } }) => seq !== event.checkpoint);
      }
    }
  }
  const latest = latestCheckpoint(turns);
  const turn = Math.max(latest?.checkpoint.turn ?? 0, elided.at(-1)?.turn ?? 0);
  if (turn === 0) return null;
  const isHere = latest?.checkpoint.turn === turn;
  return {
    turn,
    checkpoint: isHere ? latest.checkpoint : null,
    restored: isHere ? latest.restored : latest?.checkpoint ?? null,
    elided: elided.filter((each) => each.turn === turn).map(({ event }) => event),
  };
}

/** The newest checkpoint in force, and the one before, which replaces it if it is withdrawn; `null` if there is none. */
export function latestCheckpoint(
  turns: readonly Turn[],
): { readonly checkpoint: CheckpointRef; readonly restored: CheckpointRef | null } | null {
  let standing: CheckpointRef[] = [];
  for (const { turn, events } of turns) {
    for (const event of events) {
      if (event.type === "history_compaction") standing.push(checkpointRefOf(event, turn));
      else if (event.type === "compaction_withdrawn") {
        standing = standing.filter(({ seq }) => seq !== event.checkpoint);
      }
    }
  }
  const checkpoint = standing.at(-1);
  return checkpoint === undefined ? null : { checkpoint, restored: standing.at(-2) ?? null };
}

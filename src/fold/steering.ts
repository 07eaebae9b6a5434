/**
 * What earlier turns say about the fold itself: refusals, quarantine, checkpoints.
 *
 * @module
 */
import type { HistoryCompactionEvent, ReplayAction } from "../domain/event.ts";
import type { DropReason, ModelTurn, Turn } from "../domain/turn.ts";

/** The standing decisions of a history. */
export interface Steering {
  /** Events that stay out, by `seq`: items, and calls with their results. */
  readonly excluded: ReadonlyMap<number, DropReason>;
  /** Members that the API refused on an item, by the item's `seq`. */
  readonly stripped: ReadonlyMap<number, readonly string[]>;
  /** The checkpoint in force, or `null`. */
  readonly checkpoint: HistoryCompactionEvent | null;
  /** Numbers of the model turns whose request began with another checkpoint, or with none, than the one in force. */
  readonly otherPrefix: ReadonlySet<number>;
}

/** Reads the standing decisions for a request of run `run`; without it, no item is merely left out. */
export function readSteering(turns: readonly Turn[], run: number | undefined): Steering {
  const excluded = new Map<number, DropReason>();
  const stripped = new Map<number, readonly string[]>();
  let checkpoints: HistoryCompactionEvent[] = [];
  const begunWith = new Map<number, HistoryCompactionEvent | undefined>();
  for (const turn of turns) {
    if (turn.kind === "model") begunWith.set(turn.turn, checkpoints.at(-1));
    for (const event of turn.events) {
      switch (event.type) {
        case "replay_notice":
          for (const action of event.items) {
            const reason = event.reason === "call_refused" ? "call_refused" : "refused_in_run";
            apply(action, { excluded, stripped, reason: turn.run === run ? reason : null });
          }
          break;
        case "history_compaction":
          checkpoints.push(event);
          break;
        case "compaction_withdrawn":
          checkpoints = checkpoints.filter(({ seq }) => seq !== event.checkpoint);
          break;
      }
    }
  }
  const checkpoint = checkpoints.at(-1);
  const otherPrefix = [...begunWith].filter(([, begun]) => begun !== checkpoint).map(([turn]) => turn);
  return { excluded, stripped, checkpoint: checkpoint ?? null, otherPrefix: new Set(otherPrefix) };
}

interface Standing {
  readonly excluded: Map<number, DropReason>;
  readonly stripped: Map<number, readonly string[]>;
  /** Why an item that is merely left out stays out of this run; `null` in any other run. */
  readonly reason: DropReason | null;
}

function apply({ seq, action, field }: ReplayAction, { excluded, stripped, reason }: Standing): void {
  switch (action) {
    case "quarantined":
      excluded.set(seq, "quarantined");
      break;
    case "left_out":
      if (reason !== null && !excluded.has(seq)) excluded.set(seq, reason);
      break;
    case "stripped":
      if (field !== undefined) stripped.set(seq, [...stripped.get(seq) ?? [], field]);
      break;
    case "lifted":
      if (excluded.get(seq) === "quarantined") excluded.delete(seq);
      break;
  }
}

/**
 * Reasoning items that an earlier run left out after a refusal that named none, and that no response has been made
 * with since: a second such refusal is proof enough.
 */
export function leftOutBefore(turns: readonly Turn[], run: number): ReadonlySet<number> {
  const since = new Map<number, number>();
  for (const turn of turns) {
    if (turn.run === run) continue;
    if (turn.kind === "model") forgetAccepted(since, turn);
    for (const event of turn.events) {
      if (event.type !== "replay_notice" || event.reason !== "reasoning_refused") continue;
      for (const { seq, action } of event.items) if (action === "left_out") since.set(seq, turn.run);
    }
  }
  return new Set(since.keys());
}

/** A response to a request that held an item shows that the API takes it, unless that response failed. */
function forgetAccepted(since: Map<number, number>, turn: ModelTurn): void {
  // A response that failed may have failed over that very item.
  if (turn.response.status === "failed") return;
  const dropped = new Set(turn.request.guard.dropped.map(({ seq }) => seq));
  for (const [seq, run] of since) if (run < turn.run && !dropped.has(seq)) since.delete(seq);
}

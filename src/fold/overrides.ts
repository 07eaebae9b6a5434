/** Decisions of earlier turns that override the fold: refusals, quarantine, checkpoints. */
import type {
  HistoryCompactionEvent,
  RefusalScope,
  ReplayAction,
  ReplayNoticeEvent,
  ResultElidedEvent,
  StandingNotice,
  StandingOmission,
} from "../domain/event.ts";
import { mayBeSameAccount, mayBeSameEndpoint } from "../domain/fingerprint.ts";
import type { DropReason, ModelTurn, Turn } from "../domain/turn.ts";
import { groupOf, omissionsAfter } from "./omissions.ts";
import type { FoldTarget } from "./guard.ts";

export interface FoldOverrides {
  /** Events that are left out, by `seq`: items, and calls with their results. */
  readonly excluded: ReadonlyMap<number, DropReason>;
  /** Members that the API refused on an item, by the item's `seq`. */
  readonly stripped: ReadonlyMap<number, readonly string[]>;
  /** Members that the target's endpoint refuses on all items of a type, by that type. */
  readonly refusedMembers: ReadonlyMap<string, ReadonlySet<string>>;
  readonly checkpoint: HistoryCompactionEvent | null;
  /** Texts that replace the outputs of results, by the result's `seq`. */
  readonly elided: ReadonlyMap<number, string>;
  /** Calls that are sent as text with their results, by `seq`. */
  readonly asText: ReadonlySet<number>;
  readonly omissions: readonly StandingOmission[];
  /** Numbers of the model turns whose request had another checkpoint, or other items or outputs before the response. */
  readonly otherPrefix: ReadonlySet<number>;
}

/**
 * Reads the standing decisions for a request of run `run`; without `run`, no `left_out` action applies. Without a
 * target, every refusal counts.
 */
export function readOverrides(
  turns: readonly Turn[],
  run: number | undefined,
  target?: FoldTarget,
): FoldOverrides {
  const excluded = new Map<number, DropReason>();
  const stripped = new Map<number, readonly string[]>();
  const refusals: ReplayNoticeEvent[] = [];
  let checkpoints: HistoryCompactionEvent[] = [];
  let elisions: readonly ResultElidedEvent[] = [];
  let omissions: readonly StandingOmission[] = [];
  let asText: readonly number[] = [];
  const begunWith: Begun[] = [];
  for (const turn of turns) {
    if (turn.kind === "model") {
      begunWith.push({ turn, checkpoint: checkpoints.at(-1) ?? null, elisions, omissions, asText });
    }
    for (const event of turn.events) {
      omissions = omissionsAfter(omissions, event);
      switch (event.type) {
        case "replay_notice":
          refusals.push(event);
          for (const action of event.items) {
            const reason = event.reason === "call_refused" ? "call_refused" : "refused_in_run";
            const counts = target === undefined || refusalCounts(event, target.fingerprint);
            apply(action, { excluded, stripped, counts, reason: turn.run === run ? reason : null });
          }
          break;
        case "calls_as_text":
          asText = [...asText, ...event.call_seqs];
          break;
        case "history_compaction":
          checkpoints.push(event);
          break;
        case "result_elided":
          elisions = [...elisions, event];
          break;
        case "compaction_withdrawn":
          checkpoints = checkpoints.filter(({ seq }) => seq !== event.checkpoint);
          if (elisions.some(({ seq }) => seq === event.checkpoint)) {
            elisions = elisions.filter(({ seq }) => seq !== event.checkpoint);
          }
          break;
      }
    }
  }
  const checkpoint = checkpoints.at(-1) ?? null;
  const otherItems = otherOmissions(turns, checkpoint, omissions);
  const otherPrefix = begunWith.filter((begun) =>
    hadOtherPrefix(begun, checkpoint, elisions) || otherItems(begun) ||
    asText.some((seq) =>
      seq > (checkpoint?.to_seq ?? 0) && seq < begun.turn.seq[0] && !begun.asText.includes(seq)
    )
  ).map(({ turn: { turn } }) => turn);
  return {
    excluded,
    stripped,
    refusedMembers: membersRefused(refusals, checkpoint, target),
    checkpoint,
    elided: new Map(elisions.map(({ result_seq, kept }) => [result_seq, kept])),
    asText: new Set(asText),
    omissions,
    otherPrefix: new Set(otherPrefix),
  };
}

/** Decisions in force when a response was requested. */
interface Begun {
  readonly turn: ModelTurn;
  readonly checkpoint: HistoryCompactionEvent | null;
  readonly elisions: readonly ResultElidedEvent[];
  readonly omissions: readonly StandingOmission[];
  readonly asText: readonly number[];
}

/**
 * True if the items before a response differ from those of its request: by the checkpoint, or by the output of a result
 * before the response that was shortened or restored since.
 */
function hadOtherPrefix(
  { turn, checkpoint: begun, elisions: before }: Begun,
  checkpoint: HistoryCompactionEvent | null,
  elisions: readonly ResultElidedEvent[],
): boolean {
  if (begun !== checkpoint) return true;
  if (before === elisions) return false;
  const matters = ({ result_seq }: ResultElidedEvent) =>
    result_seq > (checkpoint?.to_seq ?? 0) && result_seq < turn.seq[0];
  const seqs = (all: readonly ResultElidedEvent[]) => all.filter(matters).map(({ seq }) => seq).join();
  return seqs(before) !== seqs(elisions);
}

/** Returns the test for a response whose request held items before it that are omitted now, or the reverse. */
function otherOmissions(
  turns: readonly Turn[],
  checkpoint: HistoryCompactionEvent | null,
  omissions: readonly StandingOmission[],
): (begun: Begun) => boolean {
  const kept = turns.find(({ turn }) => turn === checkpoint?.opening_turn)?.seq ?? [0, 0];
  const isSent = (seq: number) => seq > (checkpoint?.to_seq ?? 0) || kept[0] <= seq && seq <= kept[1];
  const groups = new Map<StandingOmission, readonly number[]>();
  const firstOf = (omission: StandingOmission) => {
    const group = groups.get(omission) ?? [...groupOf(turns, omission.seqs)].filter(isSent);
    groups.set(omission, group);
    return Math.min(...group);
  };
  return ({ turn, omissions: before }) => {
    if (before === omissions) return false;
    const seqs = (all: readonly StandingOmission[]) =>
      all.filter((omission) => firstOf(omission) < turn.seq[0]).map(({ seq }) => seq).join();
    return seqs(before) !== seqs(omissions);
  };
}

/** Members that the endpoint of `target` refused since the checkpoint: earlier turns may not have been read. */
function membersRefused(
  notices: readonly ReplayNoticeEvent[],
  checkpoint: HistoryCompactionEvent | null,
  target: FoldTarget | undefined,
): Map<string, Set<string>> {
  const members = new Map<string, Set<string>>();
  for (const { seq, scope, member } of notices) {
    if (member === undefined || scope === undefined || seq <= (checkpoint?.to_seq ?? 0)) continue;
    if (target !== undefined && !mayBeSameEndpoint(scope, target.fingerprint)) continue;
    members.set(member.item_type, (members.get(member.item_type) ?? new Set()).add(member.field));
  }
  return members;
}

/**
 * True if the endpoint and account of a request may be those that refused. A notice without a scope always counts: its
 * items go only to targets that fit their own turns.
 */
function refusalCounts({ scope }: { readonly scope?: RefusalScope }, target: RefusalScope): boolean {
  return scope === undefined || mayBeSameEndpoint(scope, target) && mayBeSameAccount(scope, target);
}

interface Standing {
  readonly excluded: Map<number, DropReason>;
  readonly stripped: Map<number, readonly string[]>;
  /** False if the notice is of another endpoint or account: then it neither quarantines nor lifts. */
  readonly counts: boolean;
  /** Reason for items with `left_out` in the run of the notice; `null` in any other run. */
  readonly reason: DropReason | null;
}

function apply({ seq, action, field }: ReplayAction, { excluded, stripped, counts, reason }: Standing): void {
  switch (action) {
    case "quarantined":
      if (counts) excluded.set(seq, "quarantined");
      break;
    case "left_out":
      if (reason !== null && !excluded.has(seq)) excluded.set(seq, reason);
      break;
    case "stripped":
      if (field !== undefined) stripped.set(seq, [...stripped.get(seq) ?? [], field]);
      break;
    case "lifted":
      if (counts && excluded.get(seq) === "quarantined") excluded.delete(seq);
      break;
  }
}

/**
 * Reasoning items that an earlier run left out after a refusal that named no item, by the endpoint and account of
 * `target`, and that no request with a successful response has held since: a second such refusal is proof enough. A
 * refusal that quarantined an item was caused by that item, and shows nothing about the others.
 */
export function leftOutBefore(
  turns: readonly Turn[],
  run: number,
  target: RefusalScope,
): ReadonlySet<number> {
  const since = new Map<number, number>();
  let passed = 0;
  for (const turn of turns) {
    for (const event of turn.events) {
      if (event.type === "history_compaction") passed = event.to_seq;
      if (event.type === "compaction_withdrawn") passed = event.restored?.to_seq ?? 0;
    }
    if (turn.run === run) continue;
    if (turn.kind === "model" && refusalCounts({ scope: turn.fingerprint }, target)) {
      forgetAccepted(since, turn, passed);
    }
    for (const event of turn.events) {
      if (event.type !== "replay_notice" || event.reason !== "reasoning_refused") continue;
      if (!refusalCounts(event, target)) continue;
      const explained = event.items.some(({ action }) => action === "quarantined");
      for (const { seq, action } of event.items) {
        if (explained) since.delete(seq);
        else if (action === "left_out") since.set(seq, turn.run);
      }
    }
  }
  return new Set(since.keys());
}

/**
 * Forgets items that a request held whose response did not fail: the API accepts them. Items up to `passed`, before a
 * checkpoint, were in no request since.
 */
function forgetAccepted(since: Map<number, number>, turn: ModelTurn, passed: number): void {
  // That item may be the reason why a response failed.
  if (turn.response.status === "failed") return;
  const dropped = new Set(turn.request.guard.dropped.map(({ seq }) => seq));
  for (const [seq, run] of since) if (run < turn.run && seq > passed && !dropped.has(seq)) since.delete(seq);
}

/** True if calls go to `target` only with arguments that are one JSON object. */
export function repairsArguments(turns: readonly Turn[], { fingerprint, needs, model }: FoldTarget): boolean {
  if (needs.rawArgumentsAt === null) return false;
  return needs.rawArgumentsAt !== fingerprint.endpoint ||
    standingNotices(turns).some((notice) =>
      notice.without === "raw_arguments" && notice.model === model && mayBeSameEndpoint(notice, fingerprint)
    );
}

/** Notices about endpoints, each once, with those that a checkpoint copied from before it. */
export function standingNotices(turns: readonly Turn[]): StandingNotice[] {
  const notices = new Map<string, StandingNotice>();
  const add = ({ endpoint, model, without }: StandingNotice) => {
    notices.set(JSON.stringify([endpoint, model, without]), { endpoint, model, without });
  };
  for (const { events } of turns) {
    for (const event of events) {
      if (event.type === "endpoint_notice") add(event);
      else if (event.type === "history_compaction") event.endpoint_notices?.forEach(add);
    }
  }
  return [...notices.values()];
}

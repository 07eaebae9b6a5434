/**
 * Forks a session: a new session from a prefix of another. Shared files are linked, never written again; the fork adds one
 * turn with its lineage. A fork point is after a turn and separates no call from its result.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { CheckpointRef, EventDraft } from "../../domain/event.ts";
import type { Usage } from "../../domain/usage.ts";
import type { SessionId } from "../../domain/ids.ts";
import { checkpointAfter, type Manifest, wholeManifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { checkSeal } from "../../domain/seal.ts";
import { encodeTurn, type ForkTurn, type Turn, type TurnDraft } from "../../domain/turn.ts";
import { blobPath, blobsOf, existingBlobs, lostBlobsIn } from "../blobs.ts";
import { linkOrCopy } from "../write/publish.ts";
import { sessionDamaged, storageError } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { insideSession, type SessionPaths, sessionPaths, turnPath } from "../layout.ts";
import { lookForFile } from "../read/safe_open.ts";
import { readSession } from "../read/session.ts";
import { HistoryValidator, parseCandidate } from "../read/validate.ts";
import { Staging } from "./staging.ts";

/** A planned fork. */
export interface ForkPlan {
  readonly parent: SessionId;
  /** The turns that the fork keeps, and the parent's later turns. */
  readonly kept: readonly Turn[];
  readonly later: readonly Turn[];
  /** Every session whose turns the fork may hold, the parent last. */
  readonly lineage: readonly string[];
  /** Refusals of kept items that the API made after the cut, and omissions of kept items. */
  readonly notices: readonly EventDraft[];
  /** Blobs that kept turns name and that a turn after the cut records as lost. */
  readonly lostBlobs: readonly string[];
  /** The run that the cut lies in, which the fork closes; `null` between runs. */
  readonly closes: number | null;
}

/**
 * Plans a fork of `parent` up to the event `toSeq`, or up to its last turn that separates no call from its result.
 *
 * @throws {RepriseError} `usage` if the history may not be cut there; the errors of reading a session.
 */
export function planFork(
  ports: Ports,
  home: Home,
  { parent, toSeq }: { readonly parent: SessionId; readonly toSeq?: number | undefined },
): ForkPlan {
  const { turns } = readSession(ports, home, parent);
  const cut = forkPointAt(turns, toSeq, parent);
  const [kept, later] = [turns.slice(0, cut.turn), turns.slice(cut.turn)];
  const last = kept.at(-1) as Turn;
  return {
    parent,
    kept,
    later,
    lineage: lineageOf(parent, turns),
    notices: [...noticesFor(cut.seq, later), ...omissionsFor(kept, later)],
    lostBlobs: lostLater(kept, later),
    closes: runEnded(kept) ? null : last.run,
  };
}

/** Every session that may have written a turn of `parent`, itself last. */
function lineageOf(parent: SessionId, turns: readonly Turn[]): string[] {
  // The last fork turn is the parent's own: earlier ones are shared with its own parent.
  const forks = turns.flatMap(({ events }) => events.filter((event) => event.type === "session_fork"));
  // If that fork turn is lost, the turns still name their writers.
  const before = [...forks.at(-1)?.lineage ?? [], ...turns.map(({ session }) => session)];
  return [...new Set(before.filter((session) => session !== parent)), parent];
}

/** Lasting notices about kept items. `left_out` is not lasting: it holds in its own run only. */
function noticesFor(toSeq: number, later: readonly Turn[]): EventDraft[] {
  return later.flatMap(({ events }) => events).flatMap((event): EventDraft[] => {
    if (event.type === "calls_as_text") {
      const { seq: _seq, ...notice } = event;
      const call_seqs = event.call_seqs.filter((seq) => seq <= toSeq);
      return call_seqs.length === 0 ? [] : [{ ...notice, call_seqs }];
    }
    if (event.type !== "replay_notice") return [];
    const items = event.items.filter(({ seq, action }) => seq <= toSeq && action !== "left_out");
    const { seq: _seq, ...notice } = event;
    return items.length === 0 ? [] : [{ ...notice, items }];
  });
}

/** Omissions in force that were made after the cut; a checkpoint of the fork replaces what it covers. */
function omissionsFor(kept: readonly Turn[], later: readonly Turn[]): EventDraft[] {
  const last = kept.at(-1)?.seq[1] ?? 0;
  const from = kept.reduce(checkpointAfter, null as CheckpointRef | null)?.to_seq ?? 0;
  const events = later.flatMap((turn) => turn.events);
  const withdrawn = new Set(
    events.flatMap((event) => event.type === "omission_withdrawn" ? [event.omission] : []),
  );
  return events.flatMap((event) => {
    if (event.type !== "items_omitted" || withdrawn.has(event.seq)) return [];
    const { seq: _seq, ...omission } = event;
    const seqs = event.seqs.filter((seq) => from < seq && seq <= last);
    return seqs.length === 0 ? [] : [{ ...omission, seqs }];
  });
}

function lostLater(kept: readonly Turn[], later: readonly Turn[]): string[] {
  const named = new Set(kept.flatMap(blobsOf).map(({ sha256 }) => sha256));
  return [...lostBlobsIn(later)].filter((sha256) => named.has(sha256));
}

function runEnded(turns: readonly Turn[]): boolean {
  const run = turns.at(-1)?.run;
  return turns.some((turn) => turn.run === run && turn.events.some(({ type }) => type === "run_ended"));
}

export interface ForkOptions {
  readonly id: SessionId;
  /** Summary of the parent's later turns, for the model; `null` for none. */
  readonly summary: string | null;
  /** The tokens of the run that the fork closes. */
  readonly usage: Usage;
  /** Further turns, which follow the turn that names the parent. They name no blobs of their own. */
  readonly more?: (turn: ForkTurn) => readonly { readonly turn: Turn; readonly bytes: Uint8Array }[];
}

export interface ForkResult {
  readonly path: string;
  readonly turn: ForkTurn;
  readonly manifest: Manifest;
}

/**
 * Creates a fork. It is durable and whole when this returns, and not visible before.
 *
 * @throws {RepriseError} `session_exists`; `session_diverged` if the parent changed meanwhile; `session_damaged` if a
 * blob is missing; `storage_*`.
 */
export async function forkSession(
  ports: Ports,
  home: Home,
  plan: ForkPlan,
  options: ForkOptions,
): Promise<ForkResult> {
  const tried = `fork session "${plan.parent}" as "${options.id}"`;
  let staging: Staging | null = null;
  try {
    staging = await Staging.open(ports, home, options.id);
    const parent = sessionPaths(home.sessions, plan.parent);
    for (const turn of plan.kept) shareTurn(ports, { parent, child: staging.paths, turn, tried });
    const lost = new Set([...lostBlobsIn(plan.kept), ...plan.lostBlobs]);
    for (const { sha256 } of existingBlobs(ports, parent, { turns: plan.kept, lost })) {
      linkOrCopy(ports, blobPath(parent, sha256), blobPath(staging.paths, sha256));
    }
    const { turn, bytes } = forkTurn(ports, plan, { ...options, tried });
    const added = [{ turn, bytes }, ...options.more?.(turn) ?? []];
    for (const { turn, bytes } of added) staging.write(turnPath(staging.paths, turn.turn), bytes);
    const manifest = wholeManifest(options.id, [...plan.kept, ...added.map(({ turn }) => turn)]) as Manifest;
    return { path: await staging.publish(manifest), turn, manifest };
  } catch (error) {
    staging?.discard();
    if (error instanceof TypeError) throw error;
    throw storageError(error, tried, sessionPaths(home.sessions, options.id).root);
  }
}

/** Gives the fork a kept turn of its parent. */
function shareTurn(
  ports: Ports,
  { parent, child, turn, tried }: {
    readonly parent: SessionPaths;
    readonly child: SessionPaths;
    readonly turn: Turn;
    readonly tried: string;
  },
): void {
  const [from, to] = [turnPath(parent, turn.turn), turnPath(child, turn.turn)];
  const looked = lookForFile(ports, from);
  if (looked.status === "refused") throw sessionDamaged(parent, from, looked);
  if (looked.status === "ok") {
    linkOrCopy(ports, from, to);
    // The link names the current file, which may differ from the one that the plan was made with.
    if (checkSeal(ports.files.read(to)) === turn.sum) return;
  }
  const found = `${insideSession(parent, from)} was replaced or removed meanwhile`;
  throw new RepriseError("session_diverged", `Cannot ${tried}: ${found}`, {
    hint: "Fork again",
    details: { session: parent.id, turn: turn.turn },
  });
}

function forkTurn(
  ports: Ports,
  plan: ForkPlan,
  { id, summary, usage, tried }: ForkOptions & { readonly tried: string },
): { readonly turn: ForkTurn; readonly bytes: Uint8Array } {
  const last = plan.kept.at(-1) as Turn;
  const draft: TurnDraft = { kind: "fork", run: last.run, events: forkEvents(plan, { summary, usage }) };
  const { bytes } = encodeTurn(draft, {
    session: id,
    turn: last.turn + 1,
    firstSeq: last.seq[1] + 1,
    prev: last.sum,
    at: new Date(ports.clock.now()).toISOString(),
  });
  const validator = new HistoryValidator(id, {
    lineage: () => ({ writers: plan.lineage, ownFrom: last.turn + 1 }),
  });
  for (const turn of plan.kept) validator.advance(turn);
  return { turn: parseCandidate(validator, bytes, tried) as ForkTurn, bytes };
}

function forkEvents(
  plan: ForkPlan,
  { summary, usage }: Pick<ForkOptions, "summary" | "usage">,
): EventDraft[] {
  const last = plan.kept.at(-1) as Turn;
  const events: EventDraft[] = [{
    type: "session_fork",
    parent: plan.parent,
    to_seq: last.seq[1],
    to_turn: last.turn,
    sum: last.sum,
    lineage: plan.lineage,
  }, ...plan.notices];
  for (const sha256 of plan.lostBlobs) events.push({ type: "blob_lost", sha256 });
  if (summary !== null) {
    const to = plan.later.at(-1)?.seq[1] ?? last.seq[1];
    const stretch = { from_seq: Math.min(last.seq[1] + 1, to), to_seq: to };
    events.push({ type: "branch_summary", session: plan.parent, ...stretch, summary });
  }
  if (plan.closes !== null) {
    const error = new RepriseError("interrupted", `The session was forked inside run ${plan.closes}`);
    events.push({
      type: "run_ended",
      run: plan.closes,
      state: "interrupted",
      exit_code: error.exitCode,
      usage,
      error: { code: error.code, message: error.message },
    });
  }
  return events;
}

/** The last turn and event that a prefix keeps. */
interface ForkPoint {
  readonly turn: number;
  readonly seq: number;
}

/** A range of turns; the history may not be cut after any of them. */
interface Group {
  readonly callSeq: number;
  readonly first: number;
  /** The first turn after which a cut is allowed again. */
  readonly until: number;
}

/** Points at which `turns`, a whole history, may be cut, in order. There is at least one: turn 1 opens a run. */
export function forkPoints(turns: readonly Turn[]): ForkPoint[] {
  const groups = groupsOf(turns);
  let next = 0;
  let until = 0;
  return turns.flatMap(({ turn, seq }): ForkPoint[] => {
    for (let group = groups[next]; group !== undefined && group.first <= turn; group = groups[++next]) {
      until = Math.max(until, group.until);
    }
    return turn < until ? [] : [{ turn, seq: seq[1] }];
  });
}

/**
 * The fork point at `toSeq`; without it, the last one.
 *
 * @throws {RepriseError} `usage`, naming the nearest fork point, when the history may not be cut there.
 */
function forkPointAt(turns: readonly Turn[], toSeq: number | undefined, parent: string): ForkPoint {
  const tried = `fork session "${parent}"`;
  const cuts = forkPoints(turns);
  const last = cuts.at(-1);
  if (last === undefined) throw new TypeError(`Cannot ${tried}: its first turn opens no run`);
  if (toSeq === undefined) return last;
  const exact = cuts.find(({ seq }) => seq === toSeq);
  if (exact !== undefined) return exact;
  const distance = (cut: ForkPoint) => Math.abs(cut.seq - toSeq);
  const nearest = cuts.reduce((best, cut) => distance(cut) < distance(best) ? cut : best);
  throw new RepriseError("usage", `Cannot ${tried} at seq ${toSeq}: ${whyNot(turns, toSeq)}`, {
    hint: `Fork at the nearest place: reprise fork ${parent} --to-seq ${nearest.seq}`,
    details: { to_seq: toSeq, nearest: nearest.seq },
  });
}

function whyNot(turns: readonly Turn[], toSeq: number): string {
  const turn = turns.find(({ seq }) => seq[0] <= toSeq && toSeq <= seq[1]);
  if (turn === undefined) return `the newest event is ${turns.at(-1)?.seq[1] ?? 0}`;
  if (turn.seq[1] !== toSeq) return `it lies inside turn ${turn.turn}, whose last seq is ${turn.seq[1]}`;
  const group = groupsOf(turns).find(({ first, until }) => first <= turn.turn && turn.turn < until);
  return `it would part the call with seq ${group?.callSeq} from its result`;
}

/** Groups of calls and results. Calls of incomplete responses are never run: they have no result and form no group. */
function groupsOf(turns: readonly Turn[]): Group[] {
  const answeredIn = new Map<number, number>();
  const endOf = new Map<number, number>();
  for (const { turn, run, events } of turns) {
    // A run that was killed and never closed ends when the next one opens.
    if (run > 1 && !endOf.has(run - 1)) endOf.set(run - 1, turn);
    for (const event of events) {
      // A fallback result may be recorded long after its call: a fork from before it records its own.
      if (event.type === "tool_result" && event.status !== "orphaned") answeredIn.set(event.call_seq, turn);
      if (event.type === "run_ended") endOf.set(run, turn);
    }
  }
  return turns.flatMap((turn): Group[] => {
    if (turn.kind !== "model" || turn.response.status !== "completed") return [];
    return turn.events.filter(({ type }) => type === "tool_call").map(({ seq }) => ({
      callSeq: seq,
      first: turn.turn,
      // A call without a result is open until its run ends.
      until: answeredIn.get(seq) ?? endOf.get(turn.run) ?? turns.length + 1,
    }));
  });
}

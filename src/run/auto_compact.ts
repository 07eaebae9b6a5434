/**
 * Compactions inside a run, by `--auto-compact`: before a request if the last one was too large, and once after the API
 * refused a request for its length.
 */
import { checkpointEvent, DEFAULT_TAIL_EVENTS, historySize } from "../compaction/plan.ts";
import { longestTail, shrink, type Shrunk } from "../compaction/shrink.ts";
import { RepriseError } from "../domain/errors.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import { defined } from "../domain/json.ts";
import type { Usage } from "../domain/usage.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { requestUsageOf } from "../apis/usage.ts";
import { targetOf } from "./next_request.ts";
import type { OpenSession } from "./recover.ts";
import type { OpenRun, RequestOutcome } from "./request_step.ts";

/** The compactions of one run. Replaced turns stay on disk. */
export class Compactions {
  readonly #run: OpenRun;
  #madeRoom = false;
  /** True once a checkpoint could not bring the requests under the limit. */
  #isOutOfReach = false;

  constructor(run: OpenRun) {
    this.#run = run;
  }

  /** Compacts a history that has grown over the limit. */
  async beforeRequest(): Promise<void> {
    if (!this.#isOutOfReach) await this.#compact({ overflowed: false });
  }

  /** Makes room after a context overflow, once in a run; returns true if the request can be sent again. */
  async afterOverflow({ error, items }: RequestOutcome): Promise<boolean> {
    const isOverflow = error?.code === "context_overflow" && items.length === 0;
    if (!isOverflow || this.#madeRoom || this.#run.setup.stop.state !== null) return false;
    this.#madeRoom = true;
    return await this.#compact({ overflowed: true });
  }

  async #compact({ overflowed }: { readonly overflowed: boolean }): Promise<boolean> {
    const { setup, number: run } = this.#run;
    const { limits: { autoCompact: limit }, writer, emit } = setup;
    if (limit === undefined) return false;
    const session = {
      manifest: writer.manifest,
      turns: writer.turns,
      allTurns: () => writer.allTurns(),
      save: (draft: TurnDraft) => this.#run.save(draft),
    };
    const { account, usage } = this.#run;
    const target = targetOf(setup, { account, run });
    const compacted = await compactIfLarge(session, { limit, target }, { run, usage, overflowed });
    if (compacted === null) return false;
    const { turn, checkpoint, before, after, isOutOfReach } = compacted;
    this.#isOutOfReach ||= isOutOfReach;
    emit({
      type: "notice",
      kind: "compacted",
      turn: turn.turn,
      to_seq: checkpoint?.scope.cut.seq ?? 0,
      tokens_before: before.tokens,
      tokens_after: after.tokens,
      ...(isOutOfReach ? { out_of_reach: true } : {}),
    });
    return true;
  }
}

interface AutoCompaction {
  /** Input tokens of a request above which the history is made smaller. */
  readonly limit: number;
  readonly target: FoldTarget;
}

export interface CompactedSession extends OpenSession {
  /** Reads all turns, also those before the checkpoint. */
  allTurns(): readonly Turn[];
}

/**
 * Makes the history smaller by rule if the newest request was over the limit, or the API refused it for its length
 * (`overflowed`). Older turns stay on disk. Returns the turn and its effect, `null` if nothing was appended;
 * `isOutOfReach` if no checkpoint brings the requests of the run under the limit.
 */
export async function compactIfLarge(
  session: CompactedSession,
  auto: AutoCompaction,
  { run, usage, overflowed = false }: {
    readonly run: number;
    readonly usage: Usage;
    readonly overflowed?: boolean;
  },
) {
  const { manifest } = session;
  if (manifest === null || !overflowed && !isOverLimit(session.turns, auto)) return null;
  const turns = session.allTurns();
  const shrunk = overflowed ? halved(turns, auto) : automaticCheckpoint(turns, auto);
  if (shrunk === null) return null;
  const draft = compactionDraft(turns, shrunk, { run, pins: manifest.pins, runUsage: usage });
  const isOutOfReach = !overflowed && leastTokens(turns, shrunk, auto) > auto.limit;
  return { ...shrunk, turn: await session.save(draft), isOutOfReach };
}

/** The turn of a checkpoint, shortened results, or both; `runUsage` if it is inside an open run. */
export function compactionDraft(
  turns: readonly Turn[],
  { checkpoint, elided }: Pick<Shrunk, "checkpoint" | "elided">,
  { run, pins, runUsage }: { readonly run: number; readonly pins: Pins; readonly runUsage?: Usage },
): TurnDraft {
  const checkpoints = checkpoint === null ? [] : [{
    ...checkpointEvent(turns, checkpoint.scope, checkpoint.text),
    dropped: checkpoint.plan.dropped,
    ...defined({ run_usage: runUsage }),
  }];
  return { kind: "compaction", run, pins, events: [...checkpoints, ...elided] };
}

/** Half the history, with everything that the model has not seen; `null` if it would not shrink. */
function halved(turns: readonly Turn[], { target }: AutoCompaction): Shrunk | null {
  const least = unseenEvents(turns);
  try {
    const most = Math.max(DEFAULT_TAIL_EVENTS, least);
    return shrink(turns, { most, least, target, elides: true, isOpen: true });
  } catch (error) {
    if (error instanceof RepriseError && error.code === "nothing_to_compact") return null;
    throw error;
  }
}

/** Estimated input tokens of a request whose checkpoint keeps no tail, with instructions and tools. */
function leastTokens(
  turns: readonly Turn[],
  { after }: Pick<Shrunk, "after">,
  { target }: AutoCompaction,
): number {
  const { found } = longestTail(turns, { most: 0, least: 0, target });
  const newest = turns.findLastIndex(({ kind }) => kind === "model");
  const fixed = inputTokens(turns[newest]) - historySize(turns.slice(0, newest), target).tokens;
  return Math.min(after.tokens, found?.plan.after.tokens ?? Infinity) + Math.max(0, fixed);
}

/**
 * True if the newest response reports that its request was too large. A response from before the newest checkpoint
 * does not count, so that no checkpoint follows another without a response between them.
 */
function isOverLimit(turns: readonly Turn[], { limit }: Pick<AutoCompaction, "limit">): boolean {
  const newest = turns.findLast(({ kind }) => kind === "model" || kind === "compaction");
  if (newest?.kind !== "model") return false;
  return inputTokens(newest) > limit;
}

/** Input tokens that a response reports; 0 if it reports none. */
function inputTokens(turn: Turn | undefined): number {
  if (turn?.kind !== "model") return 0;
  const usage = turn.events.findLast((event) => event.type === "provider_usage");
  return usage === undefined ? 0 : requestUsageOf(turn.fingerprint.provider, usage.usage).input_tokens;
}

/**
 * A checkpoint by rule that brings the next request under the limit and keeps as much of the tail as possible; if no
 * checkpoint does, the one with the smallest history. Events that the model has not seen always stay, with the response
 * before them: without the results of its calls, the model would repeat the calls. `null` if the history would not
 * shrink.
 */
function automaticCheckpoint(turns: readonly Turn[], { limit, target }: AutoCompaction): Shrunk | null {
  const least = unseenEvents(turns);
  const most = Math.max(DEFAULT_TAIL_EVENTS, least);
  const { found } = longestTail(turns, { most, least, target }, limit);
  return found === null
    ? null
    : { checkpoint: found, elided: [], before: found.plan.before, after: found.plan.after };
}

/** Number of events since the start of the newest response that did not fail, or since the user message after it. */
export function unseenEvents(turns: readonly Turn[]): number {
  const newest = turns.findLast((turn) =>
    turn.kind === "user" || turn.kind === "model" && turn.response.status !== "failed"
  );
  return newest === undefined ? 0 : (turns.at(-1)?.seq[1] ?? 0) - newest.seq[0] + 1;
}

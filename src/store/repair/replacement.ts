/**
 * Turns that take the places of lost ones, so that numbers, events, runs and hashes go on without a gap.
 *
 * @module
 */
import { sha256Hex } from "../../domain/hash.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { type EncodedTurn, encodeTurn, type Pins, type Turn, type TurnDraft } from "../../domain/turn.ts";
import type { Reason } from "./read_files.ts";
import type { Joint } from "./longest_chain.ts";

/** A stretch of lost turns. */
export interface Lost {
  readonly before: Joint;
  /** The turn behind them; `null` at the end of the history. */
  readonly next: Turn | null;
  /** How many turns. */
  readonly turns: number;
  /** The last event that was in them; `null` where nothing tells, so that each gets one. */
  readonly lastSeq: number | null;
  /** The sum of the last of them, where something names it. */
  readonly sum: string | null;
  /** How many of them opened a run. */
  readonly openings: number;
}

/** What replacements need beside their place. */
export interface ReplacementOptions {
  readonly session: SessionId;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Pins for a run whose opening is lost. */
  readonly pins: Pins;
  /** Why the turn with that number is replaced. */
  readonly reasonOf: (turn: number) => Reason;
}

/** The replacements of a stretch of lost turns, in order. */
export function replacementsOf(lost: Lost, options: ReplacementOptions): EncodedTurn[] {
  const { before, next, turns, openings } = lost;
  const made: EncodedTurn[] = [];
  // What follows the end of a run opens the next one; while a run is open, what is lost belonged to it.
  const opensFrom = before.runEnded ? 0 : turns - openings;
  let run = before.run;
  for (let index = 0; index < turns; index++) {
    const number = before.number + 1 + index;
    const last = index === turns - 1;
    const firstSeq = before.seq + 1 + index;
    const lastSeq = last ? lost.lastSeq ?? firstSeq : firstSeq;
    const opens = index >= opensFrom && index < opensFrom + openings;
    if (opens) run++;
    const draft: TurnDraft = {
      kind: "harness",
      run,
      ...(opens ? { pins: options.pins } : {}),
      replaces: {
        sum: last ? lost.sum : null,
        seq: [firstSeq, lastSeq],
        reason: options.reasonOf(number).code,
      },
      events: [opens ? { type: "run_continued", run } : { type: "turn_replaced" }],
    };
    made.push(encodeTurn(draft, {
      session: writerOf(before.turn, next, options.session),
      turn: number,
      firstSeq,
      lastSeq,
      prev: made.at(-1)?.sum ?? before.turn?.sum ?? null,
      at: options.at,
    }));
  }
  return made;
}

/** In the part that a fork shares with its parents, a replacement stands for a turn of theirs. */
function writerOf(before: Turn | null, next: Turn | null, own: SessionId): string {
  if (next === null || next.session === own) return own;
  return before?.session ?? next.session;
}

/** Contents that stand for instructions and tools that nobody knows any more. */
export const UNKNOWN_INSTRUCTIONS = new Uint8Array(0);
export const UNKNOWN_TOOLS = new TextEncoder().encode("[]");

/** Pins for a run whose opening is lost: those of the nearest run before it, or after it, or what responses tell. */
export function nearestPins(turns: readonly Turn[], number: number, manifest: Manifest | null): Pins {
  const before = turns.findLast((turn) => turn.turn < number && pinsOf(turn) !== undefined);
  const after = turns.find((turn) => turn.turn > number && pinsOf(turn) !== undefined);
  const known = pinsOf(before) ?? pinsOf(after) ?? manifest?.pins;
  if (known !== undefined) return known;
  const model = turns.find((turn) => turn.kind === "model");
  return {
    fingerprint: { provider: "openai", endpoint: "unknown", ...model?.fingerprint, account: null },
    model: model?.model.asked ?? "unknown",
    instructions: sha256Hex(UNKNOWN_INSTRUCTIONS),
    tools: sha256Hex(UNKNOWN_TOOLS),
    permissions: [],
    workspace: "unknown",
  };
}

function pinsOf(turn: Turn | undefined): Pins | undefined {
  return turn !== undefined && "pins" in turn ? turn.pins : undefined;
}

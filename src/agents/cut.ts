/** Position of an imported checkpoint in the turns before it. */
import type { Turn } from "../domain/turn.ts";

/** A turn, and the line of the source that it was read from; `null` for a turn of our own, such as the end of a run. */
export interface PlacedTurn {
  readonly turn: Turn;
  readonly line: number | null;
}

/** The last turn that a checkpoint replaces, and the turn whose prompt stays verbatim. */
export interface ImportedCut {
  readonly to_turn: number;
  readonly to_seq: number;
  readonly opening_turn: number | null;
}

/**
 * Cuts before the turn of line `keptFrom`, or after all turns if it is `null`, and never before `least`. `isInRun`: true if
 * the last of these runs continues after the compaction, or still can.
 */
export function cutAtTurn(
  turns: readonly PlacedTurn[],
  { keptFrom, least, isInRun }: {
    readonly keptFrom: number | null;
    /** `to_seq` of the checkpoint before; 0 without one. */
    readonly least: number;
    readonly isInRun: boolean;
  },
): ImportedCut {
  const found = keptFrom === null ? -1 : turns.findIndex(({ line }) => line !== null && line >= keptFrom);
  const cut = Math.max(
    found === -1 ? turns.length : found,
    turns.findIndex(({ turn }) => turn.seq[0] > least),
  );
  const replaced = turns.slice(0, cut);
  const last = replaced.at(-1)?.turn;
  const next = turns.slice(cut).find(({ turn: { kind } }) =>
    kind === "user" || kind === "model" || kind === "tools"
  );
  const continues = next === undefined ? isInRun : next.turn.kind !== "user";
  const opening = replaced.findLast(({ turn }) => turn.kind === "user");
  return {
    to_turn: last?.turn ?? 0,
    to_seq: last?.seq[1] ?? 0,
    opening_turn: continues ? opening?.turn.turn ?? null : null,
  };
}

import type { CheckpointRef } from "../domain/event.ts";
import { refOf } from "../domain/manifest.ts";
import type { Turn } from "../domain/turn.ts";

/** The newest checkpoint in force, and the one that is when it goes; `null` when there is none. */
export function latestCheckpoint(
  turns: readonly Turn[],
): { readonly checkpoint: CheckpointRef; readonly restored: CheckpointRef | null } | null {
  let standing: CheckpointRef[] = [];
  for (const { turn, events } of turns) {
    for (const event of events) {
      if (event.type === "history_compaction") standing.push(refOf(event, turn));
      else if (event.type === "compaction_withdrawn") {
        standing = standing.filter(({ seq }) => seq !== event.checkpoint);
      }
    }
  }
  const checkpoint = standing.at(-1);
  return checkpoint === undefined ? null : { checkpoint, restored: standing.at(-2) ?? null };
}

/** Turns of checkpoints. */
import { checkpointEvent } from "../compaction/plan.ts";
import type { Shrunk } from "../compaction/shrink.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import type { Usage } from "../domain/usage.ts";

/** The turn of a checkpoint, shortened results, or both; `runUsage` if it is inside an open run. */
export function compactionDraft(
  turns: readonly Turn[],
  { checkpoint, elided }: Pick<Shrunk, "checkpoint" | "elided">,
  { run, pins, runUsage }: { readonly run: number; readonly pins: Pins; readonly runUsage?: Usage },
): TurnDraft {
  const made = checkpoint === null ? [] : [{
    ...checkpointEvent(turns, checkpoint.scope, checkpoint.text),
    dropped: checkpoint.plan.dropped,
    ...(runUsage === undefined ? {} : { run_usage: runUsage }),
  }];
  return { kind: "compaction", run, pins, events: [...made, ...elided] };
}

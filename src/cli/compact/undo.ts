/** `compact --undo`: withdraws the latest checkpoint, so that the events that it replaced are sent again. */
import { type LatestCompaction, latestCompaction } from "../../compaction/plan.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { EventDraft } from "../../domain/event.ts";
import type { Turn } from "../../domain/turn.ts";
import { closeKilledRun } from "../../run/recover.ts";
import { readSession } from "../../store/read/session.ts";
import { changeSession } from "../remote/open_writer.ts";
import type { CompactFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../sessions.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";

export async function undoCompact(
  ports: ProgramPorts,
  selector: string,
  flags: CompactFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const latest = dryRun
    ? requireCompaction(id, readSession(ports, home, id).turns)
    : await changeSession(context, { home, id }, flags, async (writer) => {
      const compaction = requireCompaction(id, writer.allTurns());
      await closeKilledRun(writer, () => {});
      await writer.save({ kind: "harness", run: writer.end.run, events: withdrawals(compaction) });
      return compaction;
    });
  const { turn, checkpoint, restored, elided } = latest;
  if (output.options.json) {
    const facts = {
      session: id,
      withdrawn: checkpoint,
      restored_results: elided.map(({ result_seq }) => result_seq),
      in_force: restored,
    };
    output.json<"compact">(
      dryRun
        ? dryRunOf("compact", plannedChanges("append", "turn", [id]), facts)
        : { type: "compaction_withdrawn", ...facts },
    );
    return 0;
  }
  const then = restored === null ? "the whole history is sent" : `the one of turn ${restored.turn} counts`;
  const what = checkpoint === null
    ? `what turn ${turn} shortened`
    : `the checkpoint of turn ${turn} (up to seq ${checkpoint.to_seq})`;
  output.text(
    dryRun
      ? `${id}: would withdraw ${what}; then ${then}. Nothing was written.\n`
      : `${id}: ${what} is withdrawn; now ${then}\n`,
  );
  return 0;
}

/** The events that withdraw a compaction, its checkpoint last: until then that checkpoint is in force. */
function withdrawals({ checkpoint, restored, elided }: LatestCompaction): EventDraft[] {
  const inForce = checkpoint ?? restored;
  const type = "compaction_withdrawn";
  return [
    ...elided.map(({ seq }) => ({ type, checkpoint: seq, restored: inForce } as const)),
    ...(checkpoint === null ? [] : [{ type, checkpoint: checkpoint.seq, restored } as const]),
  ];
}

function requireCompaction(id: string, turns: readonly Turn[]): LatestCompaction {
  const latest = latestCompaction(turns);
  if (latest !== null) return latest;
  throw new RepriseError(
    "nothing_to_withdraw",
    `Cannot undo compact in session "${id}": it has no checkpoint`,
    {
      hint: `The whole history is sent: see it with "reprise run -s ${id} --dry-run --body"`,
    },
  );
}

/** The verb `uncompact`: withdraws the latest checkpoint, so that the events that it replaced are sent again. */
import { latestCheckpoint } from "../../compaction/plan.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/turn.ts";
import { closeKilledRun } from "../../run/recover.ts";
import { readSession } from "../../store/read/session.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import type { UncompactFlags } from "../run/command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../sessions.ts";

/** Performs `uncompact`. */
export async function uncompactVerb(
  ports: ProgramPorts,
  selector: string,
  flags: UncompactFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const { checkpoint, restored } = dryRun
    ? requireCheckpoint(id, readSession(ports, home, id).turns)
    : await withdraw();
  if (output.options.json) {
    const type = dryRun ? "dry_run" : "uncompacted";
    output.json({ type, session: id, withdrawn: checkpoint, in_force: restored });
    return 0;
  }
  const then = restored === null ? "the whole history is sent" : `the one of turn ${restored.turn} counts`;
  const what = `the checkpoint of turn ${checkpoint.turn} (up to seq ${checkpoint.to_seq})`;
  output.text(
    dryRun
      ? `${id}: would withdraw ${what}; then ${then}. Nothing was written.\n`
      : `${id}: ${what} is withdrawn; now ${then}\n`,
  );
  return 0;

  async function withdraw() {
    const writer = await SessionWriter.open(ports, home, { id, waitMs: flags.wait * 1000 });
    try {
      const found = requireCheckpoint(id, writer.allTurns());
      closeKilledRun(writer, () => {});
      writer.append({
        kind: "harness",
        run: writer.end.run,
        events: [{
          type: "compaction_withdrawn",
          checkpoint: found.checkpoint.seq,
          restored: found.restored,
        }],
      });
      return found;
    } finally {
      writer.close();
    }
  }
}

function requireCheckpoint(id: string, turns: readonly Turn[]) {
  const latest = latestCheckpoint(turns);
  if (latest !== null) return latest;
  throw new RepriseError("nothing_to_withdraw", `Cannot uncompact session "${id}": it has no checkpoint`, {
    hint: `The whole history is sent: see it with "reprise input ${id}"`,
  });
}

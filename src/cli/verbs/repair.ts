/** The verb `repair`: so far, lifting the quarantine of refused reasoning items. */
import { type ExitCode, ReprError } from "../../domain/errors.ts";
import type { ReplayAction } from "../../domain/event.ts";
import type { Turn } from "../../domain/turn.ts";
import { readSteering } from "../../fold/steering.ts";
import { closeKilledRun } from "../../run/closing.ts";
import { readSession } from "../../store/read.ts";
import { SessionWriter } from "../../store/writer.ts";
import { type CommonFlags, makeContext } from "../context.ts";
import { sessionArgument } from "../session_argument.ts";

/** The flags of `repair`. */
export interface RepairFlags extends CommonFlags {
  readonly liftQuarantine?: true | undefined;
  readonly wait: number;
  readonly dryRun?: true | undefined;
}

/** Performs `repair`. */
export async function repairVerb(selector: string, flags: RepairFlags): Promise<ExitCode> {
  if (flags.liftQuarantine !== true) {
    throw new ReprError("usage", "Cannot tell what to repair: nothing was named", {
      hint: "Give --lift-quarantine",
    });
  }
  const context = makeContext(flags);
  const { ports, output } = context;
  const { home, id } = sessionArgument(context, selector);
  const lifted = flags.dryRun === true ? quarantined(readSession(ports, home, id).turns) : await lift();
  if (output.options.json) output.json({ session: id, lifted, dry_run: flags.dryRun === true });
  else {
    const verb = flags.dryRun === true ? "would be lifted" : "lifted";
    output.text(
      `${id}: ${lifted.length} quarantined items ${verb}${lifted.map((seq) => ` seq ${seq}`).join(",")}\n`,
    );
  }
  return 0;

  async function lift(): Promise<readonly number[]> {
    const writer = await SessionWriter.open(ports, home, { id, waitMs: flags.wait * 1000 });
    try {
      closeKilledRun(writer, () => {});
      const seqs = quarantined(writer.turns);
      const items = seqs.map((seq): ReplayAction => ({ seq, action: "lifted" }));
      if (items.length > 0) {
        writer.append({
          kind: "harness",
          run: writer.end.run,
          events: [{ type: "replay_notice", reason: "quarantine_lifted", items }],
        });
      }
      return seqs;
    } finally {
      writer.close();
    }
  }
}

function quarantined(turns: readonly Turn[]): number[] {
  const { excluded } = readSteering(turns, undefined);
  return [...excluded].filter(([, reason]) => reason === "quarantined").map(([seq]) => seq).sort((a, b) =>
    a - b
  );
}

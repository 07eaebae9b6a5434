import type { ReplayAction } from "../../domain/event.ts";
import type { SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import type { Turn } from "../../domain/turn.ts";
import { readOverrides } from "../../fold/overrides.ts";
import { closeKilledRun } from "../../run/recover.ts";
import type { Home } from "../../store/home.ts";
import { readSession } from "../../store/read/session.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import type { Context } from "../context.ts";

/** Which session, and how. */
export interface Lifting {
  readonly home: Home;
  readonly id: SessionId;
  /** How long to wait for the lock, in milliseconds. */
  readonly waitMs: number;
  readonly dryRun: boolean;
}

/** `repair --lift-quarantine`: reasoning items that the API refused are sent again. */
export async function liftQuarantine({ ports, output }: Context, lifting: Lifting): Promise<void> {
  const { home, id, waitMs, dryRun } = lifting;
  const lifted = dryRun ? quarantined(readSession(ports, home, id).turns) : await lift();
  if (output.options.json) output.json({ session: id, lifted, dry_run: dryRun });
  else {
    const verb = dryRun ? "would be lifted" : "lifted";
    output.text(
      `${id}: ${counted(lifted.length, "quarantined item")} ${verb}${
        lifted.map((seq) => ` seq ${seq}`).join(",")
      }\n`,
    );
  }

  async function lift(): Promise<readonly number[]> {
    const writer = await SessionWriter.open(ports, home, { id, waitMs });
    try {
      closeKilledRun(writer, () => {});
      const seqs = quarantined(writer.allTurns());
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
  const { excluded } = readOverrides(turns, undefined);
  return [...excluded].filter(([, reason]) => reason === "quarantined").map(([seq]) => seq).sort((a, b) =>
    a - b
  );
}

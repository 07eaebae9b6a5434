/** The verb `repair`: repairs the findings of `fsck`, and keeps copies of replaced files. */
import type { ExitCode } from "../../domain/errors.ts";
import type { ReplayAction } from "../../domain/event.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { Turn } from "../../domain/turn.ts";
import { readOverrides } from "../../fold/overrides.ts";
import { closeKilledRun, unansweredCalls } from "../../run/recover.ts";
import { fsckSession } from "../../store/check/fsck.ts";
import type { Home } from "../../store/home.ts";
import {
  type LostBlob,
  previewRepair,
  type RepairAction,
  type RepairPlan,
  repairSession,
} from "../../store/repair/repair.ts";
import { readSession } from "../../store/read/session.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import type { RepairFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../sessions.ts";

/** Performs `repair`. Returns 12 if errors remain. */
export async function repairVerb(
  ports: ProgramPorts,
  selector: string,
  flags: RepairFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const waitMs = flags.wait * 1000;
  if (flags.liftQuarantine === true) {
    await liftQuarantine(context, { home, id, waitMs, dryRun });
    return 0;
  }
  const plan = dryRun
    ? await previewRepair(ports, home, id)
    : await repairSession(ports, home, { id, waitMs });
  if (!dryRun) await recordRepair(context, { home, id, waitMs, plan });
  const { findings } = dryRun ? { findings: [] } : await fsckSession(ports, home, id);
  const left = findings.filter(({ severity }) => severity === "error");
  report(context, id, { plan, dryRun, left: left.map((finding) => ({ ...finding })) });
  return left.length > 0 ? 12 : 0;
}

interface Recording {
  readonly home: Home;
  readonly id: SessionId;
  readonly waitMs: number;
  readonly plan: RepairPlan;
}

/** Records in the session itself: the end of a killed run, fallback results of open calls, and which blobs are lost. */
async function recordRepair({ ports }: Context, { home, id, waitMs, plan }: Recording): Promise<void> {
  const isComplete = plan.openRun === null && unansweredCalls(plan.turns).length === 0;
  if (isComplete && plan.lostBlobs.length === 0) return;
  const writer = await SessionWriter.open(ports, home, { id, waitMs });
  try {
    closeKilledRun(writer);
    if (plan.lostBlobs.length === 0) return;
    writer.append({
      kind: "harness",
      run: writer.end.run,
      events: plan.lostBlobs.map(({ sha256 }) => ({ type: "blob_lost", sha256 })),
    });
  } finally {
    writer.close();
  }
}

interface RepairReport {
  readonly plan: RepairPlan;
  readonly dryRun: boolean;
  /** Errors that `fsck` still finds. */
  readonly left: readonly JsonObject[];
}

function report({ output }: Context, id: SessionId, { plan, dryRun, left }: RepairReport): void {
  const { actions, openRun, lostBlobs } = plan;
  const answered = unansweredCalls(plan.turns).map(({ seq }) => seq);
  if (output.options.json) {
    output.json({
      session: id,
      dry_run: dryRun,
      actions: actions.map((action) => ({ ...action })),
      closed_run: openRun,
      answered_calls: answered,
      lost_blobs: lostBlobs.map(({ sha256 }) => sha256),
      lost: lostBlobs.map((lost) => ({ ...lost, instead: insteadOf(lost) })),
      left,
    });
    return;
  }
  const lines = [
    ...actions.map(lineOf),
    ...lostBlobs.map((lost) =>
      `record that blobs/${lost.sha256} is lost: ${lost.by} of turn ${lost.turn}; ${insteadOf(lost)}`
    ),
    ...(openRun === null ? [] : [`end run ${openRun}`]),
    ...(answered.length === 0 ? [] : [`answer ${counted(answered.length, "open call")}`]),
  ];
  const verdict = lines.length === 0
    ? "nothing to repair"
    : dryRun
    ? `${counted(lines.length, "repair")} would be made`
    : `${counted(lines.length, "repair")} made`;
  output.text(`${id}: ${verdict}\n`);
  for (const line of lines) output.text(`  ${line}\n`);
  for (const { path, message } of left) output.text(`  left: ${path}: ${message}\n`);
}

/** Text for a message: the content that replaces a lost blob. */
function insteadOf({ by }: LostBlob): string {
  switch (by) {
    case "pins.instructions":
      return "a run without --instructions starts with the default ones";
    case "pins.tools":
      return "each run brings its own tools";
    default:
      return by.startsWith("request.fields.")
        ? "verify cannot make that request again"
        : "the turn still holds the text that the model got";
  }
}

const ACTION_TEXT: Record<RepairAction["action"], string> = {
  replace: "replace",
  restore: "restore",
  set_aside: "set aside",
  rebuild_manifest: "rebuild",
  fix_mode: "fix the mode of",
};

function lineOf({ action, path, message, kept, from }: RepairAction): string {
  const source = from === undefined ? "" : ` from ${from}`;
  return `${ACTION_TEXT[action]} ${path}${source}: ${message}${
    kept === undefined ? "" : `; kept as ${kept}`
  }`;
}

/** Options of {@linkcode liftQuarantine}. */
interface LiftOptions {
  readonly home: Home;
  readonly id: SessionId;
  /** Milliseconds to wait for the lock. */
  readonly waitMs: number;
  readonly dryRun: boolean;
}

/** `repair --lift-quarantine`: reasoning items that the API refused are sent again. */
async function liftQuarantine({ ports, output }: Context, lifting: LiftOptions): Promise<void> {
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
      closeKilledRun(writer);
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

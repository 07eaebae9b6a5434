/** The verb `repair`: repairs the findings of `fsck`, and keeps copies of replaced files. */
import { type ErrorCode, type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { ReplayAction } from "../../domain/event.ts";
import type { SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import type { Turn } from "../../domain/turn.ts";
import { readOverrides } from "../../fold/overrides.ts";
import { closeKilledRun, unansweredCalls } from "../../run/recover.ts";
import { fsckSession } from "../../store/check/fsck.ts";
import type { Home } from "../../store/home.ts";
import type { LostBlob, RepairPlan } from "../../store/repair/plan.ts";
import { previewRepair, repairSession } from "../../store/repair/repair.ts";
import type { RepairAction } from "../../schemas/maintenance.ts";
import { readSession } from "../../store/read/session.ts";
import { pendingNumbers } from "../../store/write/pending.ts";
import { sessionPaths } from "../../store/layout.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { changeAndClose, openWriterOn } from "../remote/open_writer.ts";
import { remoteOf } from "../remote/given_remote.ts";
import type { RepairFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import { chosenSessions, requireOneOrAll } from "../sessions.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";
import type { PlannedChange } from "../../schemas/parts.ts";

type RepairResult = JsonDocument<"repair-all">["sessions"][number];

/** Performs `repair`. Returns 12 if errors remain. */
export async function repairVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: RepairFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  requireOneOrAll(selector, { all: flags.all === true, verb: "repair" });
  const { home, ids } = chosenSessions(context, selector);
  const dryRun = flags.dryRun === true;
  const waitMs = flags.wait * 1000;
  const store = await remoteOf(ports, home, { flag: flags.remote, config: context.config });
  const [id] = ids;
  if (flags.all === true) return await repairAll(context, { home, ids, waitMs, dryRun, store });
  if (id === undefined) return 0;
  if (flags.liftQuarantine === true) {
    await liftQuarantine(context, { home, id, waitMs, dryRun, store });
    return 0;
  }
  const result = await repaired(context, { home, id, waitMs, dryRun, store });
  if (output.options.json) {
    const changes = changesOf(result);
    output.json<"repair">(changeDocument({ verb: "repair", dryRun, changes }, result));
  } else output.text(resultText(result));
  return result.left.length > 0 ? 12 : 0;
}

/** Codes of sessions that `repair --all` leaves alone. */
const SKIPPED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "session_locked",
  "session_diverged",
  "session_open_elsewhere",
  "session_removed",
  "no_such_session",
  "session_damaged",
  "format_too_new",
]);

async function repairAll(
  context: Context,
  { ids, ...options }: Omit<Repairing, "id"> & { readonly ids: readonly SessionId[] },
): Promise<ExitCode> {
  const { output } = context;
  const { dryRun } = options;
  const sessions: RepairResult[] = [];
  const skipped: { readonly id: SessionId; readonly code: ErrorCode; readonly why: string }[] = [];
  for (const id of ids) {
    try {
      const result = await repaired(context, { ...options, id });
      sessions.push(result);
      if (!output.options.json) output.text(resultText(result));
    } catch (error) {
      if (!(error instanceof RepriseError && SKIPPED.has(error.code))) throw error;
      skipped.push({ id, code: error.code, why: error.message });
    }
  }
  const counts = sessions.map((result) => linesOf(result).length);
  const totals = {
    sessions: sessions.length,
    repaired: counts.filter((count) => count > 0).length,
    repairs: counts.reduce((sum, count) => sum + count, 0),
    left: sessions.reduce((sum, { left }) => sum + left.length, 0),
  };
  const ok = totals.left === 0 && !skipped.some(({ code }) => code === "session_damaged");
  const exitCode: ExitCode = ok ? 0 : 12;
  if (output.options.json) {
    const result = { ok, exit_code: exitCode, dry_run: dryRun, sessions, skipped, totals };
    const changes = sessions.flatMap(changesOf);
    output.json<"repair-all">(changeDocument({ verb: "repair", dryRun, changes }, result));
    return exitCode;
  }
  for (const { id, why } of skipped) output.note(`skipped ${id}: ${why}`);
  const made = dryRun ? "would be made" : "made";
  output.text(
    `${counted(totals.sessions, "session")}: ${
      counted(totals.repairs, "repair")
    } ${made} in ${totals.repaired}; ` +
      `${counted(totals.left, "error")} left\n`,
  );
  return exitCode;
}

interface Repairing {
  readonly home: Home;
  readonly id: SessionId;
  /** Milliseconds to wait for the lock. */
  readonly waitMs: number;
  readonly dryRun: boolean;
  readonly store: ObjectStore | null;
}

async function repaired(context: Context, repairing: Repairing): Promise<RepairResult> {
  const { home, id, waitMs, dryRun, store } = repairing;
  const { ports } = context;
  const remote = store === null ? null : await import("../../remote/repair.ts");
  const paths = sessionPaths(home.sessions, id);
  const copies = store === null ? undefined : await remote?.intactCopies(ports, store, paths);
  const plan = dryRun
    ? await previewRepair(ports, home, { id, copies })
    : await repairSession(ports, home, { id, waitMs, copies });
  const put = store === null ? undefined : await remote?.repairRemote(ports, store, { paths, dryRun });
  if (!dryRun) await recordRepair(context, repairing, plan);
  const { findings } = dryRun ? { findings: [] } : await fsckSession(ports, home, id);
  const { actions, openRun, lostBlobs } = plan;
  return {
    session: id,
    dry_run: dryRun,
    actions,
    closed_run: openRun,
    answered_calls: unansweredCalls(plan.turns).map(({ seq }) => seq),
    lost_blobs: lostBlobs.map(({ sha256 }) => sha256),
    lost: lostBlobs.map((lost) => ({ ...lost, instead: insteadOf(lost) })),
    ...(put === undefined ? {} : { put }),
    left: findings.filter(({ severity }) => severity === "error"),
  };
}

/** Records in the session itself: the end of a killed run, fallback results of open calls, and which blobs are lost. */
async function recordRepair(
  { ports }: Context,
  { home, id, waitMs, store }: Repairing,
  plan: RepairPlan,
): Promise<void> {
  const isComplete = plan.openRun === null && unansweredCalls(plan.turns).length === 0;
  const waits = store !== null && pendingNumbers(ports, sessionPaths(home.sessions, id)).length > 0;
  if (isComplete && plan.lostBlobs.length === 0 && !waits) return;
  // Opening it decides about waiting turns.
  await changeAndClose(await openWriterOn(ports, home, { id, waitMs }, store), async (writer) => {
    await closeKilledRun(writer);
    if (plan.lostBlobs.length === 0) return;
    await writer.save({
      kind: "harness",
      run: writer.end.run,
      events: plan.lostBlobs.map(({ sha256 }) => ({ type: "blob_lost", sha256 })),
    });
  });
}

/** The repairs of a session, a line each. */
function linesOf({ actions, closed_run, answered_calls, lost, put = [] }: RepairResult): string[] {
  return [
    ...actions.map(lineOf),
    ...lost.map(({ sha256, by, turn, instead }) =>
      `record that blobs/${sha256} is lost: ${by} of turn ${turn}; ${instead}`
    ),
    ...put.map((address) => `put ${address}: it is damaged or missing there`),
    ...(closed_run === null ? [] : [`end run ${closed_run}`]),
    ...(answered_calls.length === 0 ? [] : [`answer ${counted(answered_calls.length, "open call")}`]),
  ];
}

function changesOf(
  { session, actions, closed_run, answered_calls, lost_blobs, put = [] }: RepairResult,
): PlannedChange[] {
  const appends = closed_run !== null || answered_calls.length + lost_blobs.length > 0;
  return [
    ...plannedChanges("replace", "file", actions.map(({ path }) => path)),
    ...plannedChanges("create", "file", put),
    ...plannedChanges("append", "turn", appends ? [session] : []),
  ];
}

function resultText(result: RepairResult): string {
  const { session, dry_run, left } = result;
  const lines = linesOf(result);
  const verdict = lines.length === 0
    ? "nothing to repair"
    : `${counted(lines.length, "repair")} ${dry_run ? "would be made" : "made"}`;
  const remains = left.map(({ path, message }) => `left: ${path}: ${message}`);
  return [`${session}: ${verdict}\n`, ...[...lines, ...remains].map((line) => `  ${line}\n`)].join("");
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
        ? "fsck --requests cannot rebuild that request"
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

/** `repair --lift-quarantine`: reasoning items that the API refused are sent again. */
async function liftQuarantine({ ports, output }: Context, lifting: Repairing): Promise<void> {
  const { home, id, waitMs, dryRun, store } = lifting;
  const lifted = dryRun
    ? quarantined(readSession(ports, home, id).turns)
    : await changeAndClose(await openWriterOn(ports, home, { id, waitMs }, store), async (writer) => {
      await closeKilledRun(writer);
      const seqs = quarantined(writer.allTurns());
      const items = seqs.map((seq): ReplayAction => ({ seq, action: "lifted" }));
      if (items.length > 0) {
        await writer.save({
          kind: "harness",
          run: writer.end.run,
          events: [{ type: "replay_notice", reason: "quarantine_lifted", items }],
        });
      }
      return seqs;
    });
  if (output.options.json) {
    const facts = { session: id, lifted };
    const changes = plannedChanges("append", "turn", lifted.length === 0 ? [] : [id]);
    output.json<"repair-lift">(changeDocument({ verb: "repair", dryRun, changes }, facts));
  } else {
    const verb = dryRun ? "would be lifted" : "lifted";
    output.text(
      `${id}: ${counted(lifted.length, "quarantined item")} ${verb}${
        lifted.map((seq) => ` seq ${seq}`).join(",")
      }\n`,
    );
  }
}

function quarantined(turns: readonly Turn[]): number[] {
  const { excluded } = readOverrides(turns, undefined);
  return [...excluded].filter(([, reason]) => reason === "quarantined").map(([seq]) => seq).sort((a, b) =>
    a - b
  );
}

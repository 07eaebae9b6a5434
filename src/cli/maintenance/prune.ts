/** The verb `prune`: deletes sessions by age, number or size. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { DAY_MS } from "../../domain/ports.ts";
import { openHome } from "../../store/home.ts";
import { planPrune, type PrunedSession } from "../../store/lifecycle/remove.ts";
import { sessionOwner } from "../../store/write/lock.ts";
import { removeSession } from "../../store/lifecycle/remove.ts";
import { confirm } from "./confirm.ts";
import type { PruneFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";

/** Performs `prune`. A session in use is skipped and named. */
export async function pruneVerb(ports: ProgramPorts, flags: PruneFlags): Promise<ExitCode> {
  const { olderThan, keep, maxSize } = flags;
  if (olderThan === undefined && keep === undefined && maxSize === undefined) {
    throw new RepriseError("usage", "Cannot tell what to prune: no age, number or size was given", {
      hint: "Give --older-than DAYS, --keep N or --max-size BYTES",
    });
  }
  const context = makeContext(ports, flags);
  const { output } = context;
  const home = openHome(ports, context.home.value, { create: false });
  const olderThanMs = olderThan === undefined ? undefined : olderThan * DAY_MS;
  const plan = planPrune(ports, home, { olderThanMs, keep, maxBytes: maxSize });
  const [free, busy]: [PrunedSession[], PrunedSession[]] = [[], []];
  for (const doomed of plan) {
    ((await sessionOwner(ports, home, doomed.id)).held ? busy : free).push(doomed);
  }
  const dryRun = flags.dryRun === true;
  const removed: PrunedSession[] = [];
  const skipped = busy.map(({ id }) => ({ id, why: "in use" }));
  if (!dryRun && free.length > 0) {
    if (flags.yes !== true) confirm(context, `remove ${counted(free.length, "session")} for good`);
    for (const doomed of free) {
      try {
        await removeSession(ports, home, doomed.id);
        removed.push(doomed);
      } catch (error) {
        if (!(error instanceof RepriseError && MEANWHILE.has(error.code))) throw error;
        skipped.push({ id: doomed.id, why: error.message });
      }
    }
  }
  if (output.options.json) {
    output.json({ removed, would_remove: dryRun ? free : [], skipped, dry_run: dryRun });
    return 0;
  }
  for (const { id, updated_at, bytes, why } of dryRun ? free : removed) {
    output.text(
      `${id}  ${updated_at.slice(0, 10)}  ${counted(bytes, "byte")}  (${why})${dryRun ? "  would go" : ""}\n`,
    );
  }
  for (const { id, why } of skipped) output.note(`skipped ${id}: ${why}`);
  if (dryRun) output.note("Nothing was done.");
  return 0;
}

/** What another process may have done since the look: begun to write, or removed it. */
const MEANWHILE: ReadonlySet<string> = new Set(["session_locked", "no_such_session"]);

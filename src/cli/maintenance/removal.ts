/** The verbs that remove: `rm` a session, `prune` sessions, `gc` blobs and leftovers. */
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { DAY_MS } from "../../domain/ports.ts";
import { openHome } from "../../store/home.ts";
import {
  collectGarbage,
  planPrune,
  type PrunedSession,
  removeSession,
} from "../../store/lifecycle/remove.ts";
import { sessionOwner } from "../../store/write/lock.ts";
import type { GcFlags, PruneFlags, RmFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../sessions.ts";
import { collectScratch } from "../test/scratch.ts";

/** Performs `rm`. */
export async function rmVerb(ports: ProgramPorts, selector: string, flags: RmFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const { held, owner } = await sessionOwner(ports, home, id);
  if (held) {
    const by = owner === null ? "another process" : `process ${owner.pid} on host ${owner.host}`;
    throw new RepriseError("session_locked", `Cannot remove session "${id}": ${by} writes to it`, {
      hint: `Wait for it, or stop it with "reprise interrupt ${id}"`,
      details: { session: id },
    });
  }
  if (!dryRun) {
    if (flags.yes !== true) confirm(context, `remove session "${id}" for good`);
    await removeSession(ports, home, id);
  }
  if (output.options.json) {
    output.json({ removed: dryRun ? [] : [id], would_remove: dryRun ? [id] : [], dry_run: dryRun });
  } else output.text(dryRun ? `Would remove ${id}. Nothing was done.\n` : `${id}: removed\n`);
  return 0;
}

/** Performs `prune`. Skips and reports sessions in use. */
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

/** Codes of conflicts with another process, which began to write or removed the session. */
const MEANWHILE: ReadonlySet<string> = new Set(["session_locked", "no_such_session"]);

/** Performs `gc`. Skips and reports sessions in use or damaged; returns 14 after a disk error. */
export async function gcVerb(ports: ProgramPorts, flags: GcFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const home = openHome(ports, context.home.value, { create: false });
  const found = [await collectGarbage(ports, home, { dryRun }), await collectScratch(ports, { dryRun })];
  const removed = found.flatMap((each) => each.removed);
  const skipped = found.flatMap((each) => each.skipped);
  const exitCode = skipped.some(({ code }) => code.startsWith("storage_")) ? 14 : 0;
  if (output.options.json) {
    output.json({
      removed: dryRun ? [] : removed,
      would_remove: dryRun ? removed : [],
      skipped,
      dry_run: dryRun,
    });
    return exitCode;
  }
  for (const { kind, path } of removed) {
    output.text(`${dryRun ? "would remove" : "removed"} ${path} (${kind})\n`);
  }
  for (const { path, why } of skipped) output.note(`skipped ${path}: ${why}`);
  return exitCode;
}

/** The longest answer that is read, in bytes. */
const ANSWER_BYTES = 64;

/**
 * Asks before a permanent deletion. Asks only if stdin and stderr are both terminals.
 *
 * @throws {RepriseError} `usage` without a terminal to ask on, or if the answer is no.
 */
function confirm({ ports: { stdin }, output }: Context, what: string): void {
  if (!stdin.isTerminal() || !output.stderrIsTerminal) {
    throw new RepriseError("usage", `Cannot ${what}: no terminal to ask on`, {
      hint: "Give --yes to do it, or --dry-run to see what would be done",
    });
  }
  output.prompt(`${what.charAt(0).toUpperCase()}${what.slice(1)}? [y]es, [n]o: `);
  const buffer = new Uint8Array(ANSWER_BYTES);
  const count = stdin.readSync(buffer) ?? 0;
  const word = decodeUtf8Leniently(buffer.subarray(0, count)).trim().toLowerCase();
  if (word === "y" || word === "yes") return;
  throw new RepriseError("usage", `Cannot ${what}: the answer was no`, { hint: "Nothing was done" });
}

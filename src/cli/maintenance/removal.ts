/** The verbs that remove: `rm` and `prune` sessions, `gc` blobs and leftovers. */
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type Home, openHome } from "../../store/home.ts";
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
import { localMinute } from "../local_time.ts";
import { sizeText } from "../readable.ts";
import { sessionArgument } from "../sessions.ts";
import { collectScratch } from "../test/scratch.ts";
import { dryRunOf, each } from "../dry_run.ts";

/** The JSON of `rm`: ids in the order of the arguments. */
export interface RmResult {
  readonly removed: readonly SessionId[];
  readonly would_remove: readonly SessionId[];
  readonly dry_run: boolean;
}

/** Performs `rm`. Every session must exist and be free before the first is deleted. */
export async function rmVerb(
  ports: ProgramPorts,
  selectors: readonly string[],
  flags: RmFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  if (flags.remote !== undefined) {
    return await (await import("../remote/removal.ts")).rmRemote(context, selectors, flags);
  }
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const home = openHome(ports, context.home.value, { create: false });
  const ids = [...new Set(selectors.map((selector) => sessionArgument(context, selector).id))];
  for (const id of ids) await requireFree(ports, home, id);
  if (!dryRun && flags.yes !== true) {
    confirmRm(context, ids);
  }
  const removed: SessionId[] = [];
  for (const id of dryRun ? [] : ids) {
    await removeSession(ports, home, id);
    removed.push(id);
    if (!output.options.json) output.text(`${id}: removed\n`);
  }
  reportRm(context, { ids, removed, dryRun });
  return 0;
}

/** Asks before `rm` removes sessions. Throws as {@linkcode confirm} does. `from`: the place, if it is not this home. */
export function confirmRm(context: Context, ids: readonly SessionId[], from = ""): void {
  const [list, what] = ids.length === 1
    ? [[], `session "${ids[0]}"`]
    : [ids.map((id) => `  ${id}`), `${ids.length} sessions`];
  confirm(context, `remove ${what}${from} for good`, list);
}

/** Prints the end of `rm`. */
export function reportRm(
  { output }: Context,
  { ids, removed, dryRun }: {
    readonly ids: readonly SessionId[];
    readonly removed: readonly SessionId[];
    readonly dryRun: boolean;
  },
): void {
  if (output.options.json) {
    const removals = each("remove", "session", ids);
    output.json<"rm">(
      dryRun
        ? dryRunOf("rm", removals, { removed, would_remove: ids })
        : { removed, would_remove: [], dry_run: false } satisfies RmResult,
    );
  } else if (dryRun) output.text(`Would remove ${ids.join(", ")}. Nothing was done.\n`);
}

async function requireFree(ports: ProgramPorts, home: Home, id: SessionId): Promise<void> {
  const { held, owner } = await sessionOwner(ports, home, id);
  if (!held) return;
  const by = owner === null ? "another process" : `process ${owner.pid} on host ${owner.host}`;
  throw new RepriseError("session_locked", `Cannot remove session "${id}": ${by} writes to it`, {
    hint: `Wait for it, or stop it with "reprise interrupt ${id}"`,
    details: { session: id },
  });
}

/** Performs `prune`. Skips and reports sessions in use. */
export async function pruneVerb(ports: ProgramPorts, flags: PruneFlags): Promise<ExitCode> {
  const { olderThan, keep, maxSize } = flags;
  if (olderThan === undefined && keep === undefined && maxSize === undefined) {
    throw new RepriseError("usage", "Cannot tell what to prune: no age, number or size was given", {
      hint:
        'Give --older-than AGE, --keep N or --max-size SIZE, such as "reprise prune --older-than 90d"; see "reprise prune --help"',
    });
  }
  const context = makeContext(ports, flags);
  if (flags.remote !== undefined) {
    return await (await import("../remote/removal.ts")).pruneRemote(context, flags);
  }
  const home = openHome(ports, context.home.value, { create: false });
  const plan = planPrune(ports, home, { olderThanMs: olderThan, keep, maxBytes: maxSize });
  const [free, busy]: [PrunedSession[], PrunedSession[]] = [[], []];
  for (const doomed of plan) {
    ((await sessionOwner(ports, home, doomed.id)).held ? busy : free).push(doomed);
  }
  const dryRun = flags.dryRun === true;
  const removed: PrunedSession[] = [];
  const skipped = busy.map(({ id }) => ({ id, why: "in use" }));
  if (!dryRun && free.length > 0) {
    if (flags.yes !== true) confirmPrune(context, free);
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
  reportPrune(context, { free, removed, skipped, dryRun });
  return 0;
}

/** Asks before `prune` removes sessions. Throws as {@linkcode confirm} does. `from`: the place, if it is not this home. */
export function confirmPrune(context: Context, doomed: readonly PrunedSession[], from = ""): void {
  const size = sizeText(doomed.reduce((sum, { bytes }) => sum + bytes, 0));
  const what = `remove ${counted(doomed.length, "session")} (${size})${from} for good`;
  confirm(context, what, doomed.map((each) => `  ${prunedLine(each)}`));
}

/** Result of `prune`. */
export interface PruneReport {
  /** Sessions that were chosen and are not in use. */
  readonly free: readonly PrunedSession[];
  readonly removed: readonly PrunedSession[];
  readonly skipped: readonly { readonly id: string; readonly why: string }[];
  readonly dryRun: boolean;
}

/** Prints the end of `prune`. */
export function reportPrune({ output }: Context, { free, removed, skipped, dryRun }: PruneReport): void {
  if (output.options.json) {
    output.json<"prune">(
      dryRun
        ? dryRunOf("prune", each("remove", "session", free.map(({ id }) => id)), {
          removed: [],
          would_remove: free,
          skipped,
        })
        : { removed, would_remove: [], skipped, dry_run: false },
    );
    return;
  }
  for (const doomed of dryRun ? free : removed) {
    output.text(`${prunedLine(doomed)}${dryRun ? "  would go" : ""}\n`);
  }
  for (const { id, why } of skipped) output.note(`skipped ${id}: ${why}`);
  if (dryRun) output.note("Nothing was done.");
}

function prunedLine({ id, updated_at, bytes, why }: PrunedSession): string {
  return `${id}  ${localMinute(updated_at)}  ${sizeText(bytes)}  (${why})`;
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
    output.json<"gc">(
      dryRun
        ? dryRunOf("gc", each("remove", "file", removed.map(({ path }) => path)), {
          removed: [],
          would_remove: removed,
          skipped,
        })
        : { removed, would_remove: [], skipped, dry_run: false },
    );
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
 * Asks before a permanent deletion, below a list of what is deleted. Asks only if stdin and stderr are both terminals.
 *
 * @throws {RepriseError} `usage` without a terminal to ask on, or if the answer is no.
 */
function confirm({ ports: { stdin }, output }: Context, what: string, list: readonly string[] = []): void {
  if (!stdin.isTerminal() || !output.stderrIsTerminal) {
    throw new RepriseError("usage", `Cannot ${what}: no terminal to ask on`, {
      hint: "Give --yes to do it, or --dry-run to see what would be done",
    });
  }
  if (list.length > 0) output.prompt(`${list.join("\n")}\n`);
  output.prompt(`${what.charAt(0).toUpperCase()}${what.slice(1)}? [y]es, [n]o: `);
  const buffer = new Uint8Array(ANSWER_BYTES);
  const count = stdin.readSync(buffer) ?? 0;
  const word = decodeUtf8Leniently(buffer.subarray(0, count)).trim().toLowerCase();
  if (word === "y" || word === "yes") return;
  throw new RepriseError("usage", `Cannot ${what}: the answer was no`, { hint: "Nothing was done" });
}

/** The verb `rm`: removes sessions that are named or chosen by rules, here or on a remote, and with `--unused` leftovers. */
import type { SkippedSession } from "../../schemas/maintenance.ts";
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Home } from "../../store/home.ts";
import {
  type Choice,
  chooseSessions,
  type ChosenSession,
  collectGarbage,
  removeSession,
} from "../../store/lifecycle/remove.ts";
import { sessionOwner } from "../../store/write/lock.ts";
import type { RmFlags } from "./command.ts";
import { type Context, homeOf, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { TimeZone } from "../local_time.ts";
import { shortSize } from "../readable.ts";
import { sessionArgument } from "../sessions.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";
import { collectScratch } from "../test/scratch.ts";

/** A session that `rm` removes: one that was named, or one that a rule chose. */
type RemovedSession = ChosenSession | { readonly id: SessionId; readonly why: "named" };

/** A place of sessions: this home, or a remote. */
export interface RemovalPlace {
  /** The end of a question about it, such as ` from s3://bucket`; empty for this home. */
  readonly from: string;
  /** The sessions that arguments name. Throws if one cannot be removed. */
  named(selectors: readonly string[]): Promise<readonly SessionId[]>;
  /** The sessions that a rule chooses, without those in use, which are `skipped`. */
  chosen(choice: Choice): Promise<{
    readonly free: readonly ChosenSession[];
    readonly skipped: readonly SkippedSession[];
  }>;
  remove(id: SessionId): Promise<void>;
}

/** Codes of conflicts with another process, which began to write or removed the session. */
const MEANWHILE: ReadonlySet<string> = new Set([
  "session_locked",
  "no_such_session",
  "session_open_elsewhere",
]);

/** Performs `rm`. Named sessions must all exist and be free before the first is removed; of chosen ones, others stay. */
export async function rmVerb(
  ports: ProgramPorts,
  selectors: readonly string[],
  flags: RmFlags,
): Promise<ExitCode> {
  const { olderThan: olderThanMs, keep, largerThan } = flags;
  const choice = { olderThanMs, keep, largerThan };
  const isChosen = Object.values(choice).some((rule) => rule !== undefined);
  const ways = [selectors.length > 0, isChosen, flags.unused === true].filter((way) => way).length;
  if (ways !== 1) {
    const why = ways === 0 ? "neither sessions nor a rule were given" : "these exclude each other";
    throw new RepriseError("usage", `Cannot tell what to remove: ${why}`, {
      hint:
        'Name sessions, or give --older-than AGE, --keep N or --larger-than SIZE, or --unused; see "reprise rm --help"',
    });
  }
  const context = makeContext(ports, flags);
  if (flags.unused === true) return await removeUnused(context, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const place = flags.remote === undefined
    ? placeOfHome(context)
    : await (await import("./remote_removal.ts")).removalOnRemote(context, flags);
  const { free, skipped } = isChosen
    ? await place.chosen(choice)
    : { free: (await place.named(selectors)).map((id) => ({ id, why: "named" as const })), skipped: [] };
  if (!dryRun && free.length > 0 && flags.yes !== true) confirm(context, free, place.from);
  const removed: RemovedSession[] = [];
  const unremoved: SkippedSession[] = [...skipped];
  for (const doomed of dryRun ? [] : free) {
    try {
      await place.remove(doomed.id);
      removed.push(doomed);
      if (!output.options.json) output.text(`${lineOf(doomed)}: removed${place.from}\n`);
    } catch (error) {
      if (!(isChosen && error instanceof RepriseError && MEANWHILE.has(error.code))) throw error;
      unremoved.push({ id: doomed.id, why: error.message });
    }
  }
  if (output.options.json) {
    const changes = plannedChanges("remove", "session", free.map(({ id }) => id));
    const facts = { removed, would_remove: dryRun ? free : [], skipped: unremoved };
    output.json<"rm">(changeDocument({ verb: "rm", dryRun, changes }, facts));
    return 0;
  }
  for (const doomed of dryRun ? free : []) output.text(`${lineOf(doomed)}: would be removed${place.from}\n`);
  for (const { id, why } of unremoved) output.note(`skipped ${id}: ${why}`);
  if (free.length + unremoved.length === 0) {
    output.note(`No session${place.from} is to be removed by these rules.`);
  }
  if (dryRun) output.note("Nothing was done.");
  return 0;
}

function placeOfHome(context: Context): RemovalPlace {
  const { ports } = context;
  const home = homeOf(context);
  return {
    from: "",
    named: async (selectors) => {
      const ids = [...new Set(selectors.map((selector) => sessionArgument(context, selector).id))];
      for (const id of ids) await requireFree(ports, home, id);
      return ids;
    },
    chosen: async (choice) => {
      const free: ChosenSession[] = [];
      const skipped: SkippedSession[] = [];
      for (const doomed of chooseSessions(ports, home, choice)) {
        if ((await sessionOwner(ports, home, doomed.id)).held) skipped.push({ id: doomed.id, why: "in use" });
        else free.push(doomed);
      }
      return { free, skipped };
    },
    remove: (id) => removeSession(ports, home, id),
  };
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

function lineOf(session: RemovedSession): string {
  if (session.why === "named") return session.id;
  const { id, updated_at, bytes, why } = session;
  return `${id}  ${TimeZone.local.minute(updated_at)}  ${shortSize(bytes)}  (${why})`;
}

/** The longest answer that is read, in bytes. */
const ANSWER_BYTES = 64;

/**
 * Asks before sessions are removed, below a list of them. Asks only if stdin and stderr are both terminals.
 *
 * @throws {RepriseError} `usage` without a terminal to ask on, or if the answer is no.
 */
function confirm(
  { ports: { stdin }, output }: Context,
  doomed: readonly RemovedSession[],
  from: string,
): void {
  const [first] = doomed;
  const size = doomed.reduce((sum, session) => sum + ("bytes" in session ? session.bytes : 0), 0);
  const sessions = counted(doomed.length, "session");
  const named = doomed.length === 1 && first?.why === "named" ? `session "${first.id}"` : null;
  const what = `remove ${
    named ?? (size === 0 ? sessions : `${sessions} (${shortSize(size)})`)
  }${from} for good`;
  if (!stdin.isTerminal() || !output.stderrIsTerminal) {
    throw new RepriseError("usage", `Cannot ${what}: no terminal to ask on`, {
      hint: "Give --yes to do it, or --dry-run to see what would be done",
    });
  }
  if (named === null) output.prompt(`${doomed.map((session) => `  ${lineOf(session)}`).join("\n")}\n`);
  output.prompt(`${what.charAt(0).toUpperCase()}${what.slice(1)}? [y]es, [n]o: `);
  const buffer = new Uint8Array(ANSWER_BYTES);
  const count = stdin.readSync(buffer) ?? 0;
  const word = decodeUtf8Leniently(buffer.subarray(0, count)).trim().toLowerCase();
  if (word === "y" || word === "yes") return;
  throw new RepriseError("usage", `Cannot ${what}: the answer was no`, { hint: "Nothing was done" });
}

/** Performs `rm --unused`. Skips and reports sessions in use or damaged; returns 14 after a disk error. */
async function removeUnused(context: Context, flags: RmFlags): Promise<ExitCode> {
  const { output, ports } = context;
  const dryRun = flags.dryRun === true;
  const home = homeOf(context);
  const found = [await collectGarbage(ports, home, { dryRun }), await collectScratch(ports, { dryRun })];
  const removed = found.flatMap((each) => each.removed);
  const skipped = found.flatMap((each) => each.skipped);
  const exitCode = skipped.some(({ code }) => code.startsWith("storage_")) ? 14 : 0;
  if (output.options.json) {
    const changes = plannedChanges("remove", "file", removed.map(({ path }) => path));
    const facts = { removed: dryRun ? [] : removed, would_remove: dryRun ? removed : [], skipped };
    output.json<"rm-unused">(changeDocument({ verb: "rm", dryRun, changes }, facts));
    return exitCode;
  }
  for (const { kind, path } of removed) {
    output.text(`${dryRun ? "would remove" : "removed"} ${path} (${kind})\n`);
  }
  for (const { path, why } of skipped) output.note(`skipped ${path}: ${why}`);
  return exitCode;
}

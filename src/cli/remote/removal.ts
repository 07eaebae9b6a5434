/** `rm --remote` and `prune --remote`: remove sessions from a remote; those of this home stay. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { ABANDONED_MS } from "../../remote/open_run.ts";
import { missing, removeRemotely } from "../../remote/remove.ts";
import { remoteSessions } from "../../remote/sessions.ts";
import { pruned, type PrunedSession } from "../../store/lifecycle/remove.ts";
import type { Context } from "../context.ts";
import type { PruneFlags, RmFlags } from "../maintenance/command.ts";
import { confirmPrune, confirmRm, reportPrune, reportRm } from "../maintenance/removal.ts";
import { givenRemote } from "./given_remote.ts";

/** Performs `rm --remote`. Ids are whole. Every session must be there before the first is removed. */
export async function rmRemote(
  context: Context,
  selectors: readonly string[],
  flags: RmFlags,
): Promise<ExitCode> {
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const ids = [...new Set(selectors.map(parseSessionId))];
  const store = await givenRemote(context, flags, null);
  const there = new Set((await remoteSessions(store)).map(({ id }) => id));
  // One that was removed in part has a tombstone, and is finished.
  const unknown = dryRun ? ids.find((id) => !there.has(id)) : undefined;
  if (unknown !== undefined) throw missing(unknown, store.name);
  if (!dryRun && flags.yes !== true) confirmRm(context, ids, ` from ${store.name}`);
  const removed: SessionId[] = [];
  for (const id of dryRun ? [] : ids) {
    await removeRemotely(store, id, { at: nowOf(context) });
    removed.push(id);
    if (!output.options.json) output.text(`${id}: removed from ${store.name}\n`);
  }
  reportRm(context, { ids, removed, dryRun });
  return 0;
}

/** Performs `prune --remote`. Skips and reports sessions with an open run. */
export async function pruneRemote(context: Context, flags: PruneFlags): Promise<ExitCode> {
  const { olderThan: olderThanMs, keep, maxSize: maxBytes } = flags;
  const dryRun = flags.dryRun === true;
  const store = await givenRemote(context, flags, null);
  const dated = (await remoteSessions(store)).flatMap(({ id, bytes, updated, seen }) =>
    updated === null ? [] : [{ id, bytes, seen, updated, updated_at: new Date(updated).toISOString() }]
  ).sort((a, b) => b.updated - a.updated);
  // The store refuses signatures of a clock that is 15 minutes off, so this one can be trusted with days.
  const now = context.ports.clock.now();
  const plan = pruned(dated, { olderThanMs, keep, maxBytes }, {
    now,
    measure: ({ bytes }) => ({ bytes, fresh: bytes, keep: () => {} }),
  });
  // A call that removes judges each session by the store's clock, right before it is removed.
  const isYoung = ({ seen }: typeof dated[number]) => seen !== null && now - seen < ABANDONED_MS;
  const open = new Set(dryRun ? dated.filter(isYoung).map(({ id }) => id) : []);
  const free = plan.filter(({ id }) => !open.has(id));
  const skipped = plan.filter(({ id }) => open.has(id)).map(({ id }) => ({
    id: `${id}`,
    why: "a run keeps it open",
  }));
  const removed: PrunedSession[] = [];
  if (!dryRun && free.length > 0) {
    if (flags.yes !== true) confirmPrune(context, free, ` from ${store.name}`);
    for (const doomed of free) {
      try {
        await removeRemotely(store, doomed.id, { at: nowOf(context) });
        removed.push(doomed);
      } catch (error) {
        if (!(error instanceof RepriseError && error.code === "session_open_elsewhere")) throw error;
        skipped.push({ id: doomed.id, why: error.message });
      }
    }
  }
  reportPrune(context, { free, removed, skipped, dryRun });
  return 0;
}

function nowOf({ ports }: Context): string {
  return new Date(ports.clock.now()).toISOString();
}

/** `rm --remote`: removes sessions from a remote; those of this home stay. */
import { RepriseError } from "../../domain/errors.ts";
import { parseSessionId } from "../../domain/ids.ts";
import { requireNoOpenRun } from "../../remote/open_run.ts";
import { noRemoteSession, removeRemotely } from "../../remote/session_remote.ts";
import { chooseByRules, type ChosenSession } from "../../store/lifecycle/remove.ts";
import type { Context } from "../context.ts";
import type { RmFlags } from "./command.ts";
import type { RemovalPlace } from "./rm.ts";
import type { SkippedSession } from "../../schemas/maintenance.ts";
import { givenRemote } from "../remote/given_remote.ts";
import { remoteSessions } from "../remote/remote_sessions.ts";

/** The sessions of a remote. Ids are whole; a session with an open run is skipped. */
export async function removalOnRemote(context: Context, flags: RmFlags): Promise<RemovalPlace> {
  const dryRun = flags.dryRun === true;
  const store = await givenRemote(context, flags, null);
  const { clock } = context.ports;
  return {
    from: ` from ${store.name}`,
    named: async (selectors) => {
      const ids = [...new Set(selectors.map(parseSessionId))];
      const there = new Set((await remoteSessions(context, store)).map(({ id }) => id));
      // One that was removed in part has a tombstone, and is finished.
      const unknown = dryRun ? ids.find((id) => !there.has(id)) : undefined;
      if (unknown !== undefined) throw noRemoteSession(unknown, store.name);
      return ids;
    },
    chosen: async (choice) => {
      const there = await remoteSessions(context, store);
      const dated = there.flatMap(({ id, bytes, updated }) =>
        updated === null ? [] : [{ id, bytes, updated, updated_at: new Date(updated).toISOString() }]
      ).sort((a, b) => b.updated - a.updated);
      // The store refuses signatures of a clock that is 15 minutes off, so this one can be trusted with days.
      const plan = chooseByRules(dated, choice, { now: clock.now(), bytesOf: ({ bytes }) => bytes });
      const newest = new Map(there.map(({ id, turns }) => [id, turns]));
      const free: ChosenSession[] = [];
      const skipped: SkippedSession[] = [];
      for (const doomed of plan) {
        try {
          await requireNoOpenRun(store, doomed.id, newest.get(doomed.id) ?? 0);
          free.push(doomed);
        } catch (error) {
          if (!(error instanceof RepriseError && error.code === "session_open_elsewhere")) throw error;
          skipped.push({ id: doomed.id, why: error.message });
        }
      }
      return { free, skipped };
    },
    remove: async (id) => {
      await removeRemotely(store, id, new Date(clock.now()).toISOString());
    },
  };
}

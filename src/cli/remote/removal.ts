/** `rm --remote`: removes sessions from a remote; those of this home stay. */
import { parseSessionId } from "../../domain/ids.ts";
import { ABANDONED_MS } from "../../remote/open_run.ts";
import { missing, removeRemotely } from "../../remote/remove.ts";
import { remoteSessions } from "../../remote/sessions.ts";
import { chosen } from "../../store/lifecycle/remove.ts";
import type { Context } from "../context.ts";
import type { RmFlags } from "../maintenance/command.ts";
import type { RemovalPlace } from "../maintenance/removal.ts";
import { givenRemote } from "./given_remote.ts";

/** The sessions of a remote. Ids are whole; a session with an open run is skipped. */
export async function remotePlace(context: Context, flags: RmFlags): Promise<RemovalPlace> {
  const dryRun = flags.dryRun === true;
  const store = await givenRemote(context, flags, null);
  const { clock } = context.ports;
  return {
    from: ` from ${store.name}`,
    named: async (selectors) => {
      const ids = [...new Set(selectors.map(parseSessionId))];
      const there = new Set((await remoteSessions(store)).map(({ id }) => id));
      // One that was removed in part has a tombstone, and is finished.
      const unknown = dryRun ? ids.find((id) => !there.has(id)) : undefined;
      if (unknown !== undefined) throw missing(unknown, store.name);
      return ids;
    },
    chosen: async (choice) => {
      const dated = (await remoteSessions(store)).flatMap(({ id, bytes, updated, seen }) =>
        updated === null ? [] : [{ id, bytes, seen, updated, updated_at: new Date(updated).toISOString() }]
      ).sort((a, b) => b.updated - a.updated);
      // The store refuses signatures of a clock that is 15 minutes off, so this one can be trusted with days.
      const now = clock.now();
      const plan = chosen(dated, choice, { now, bytesOf: ({ bytes }) => bytes });
      // A call that removes judges each session by the store's clock, right before it is removed.
      const isYoung = ({ seen }: typeof dated[number]) => seen !== null && now - seen < ABANDONED_MS;
      const open = new Set(dryRun ? dated.filter(isYoung).map(({ id }) => id) : []);
      return {
        free: plan.filter(({ id }) => !open.has(id)),
        skipped: plan.filter(({ id }) => open.has(id)).map(({ id }) => ({ id, why: "a run keeps it open" })),
      };
    },
    remove: async (id) => {
      await removeRemotely(store, id, { at: new Date(clock.now()).toISOString() });
    },
  };
}

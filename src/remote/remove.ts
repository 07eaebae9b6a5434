/** Removes sessions from a remote. A tombstone stays, so that a home that still has the session cannot put it again. */
import { encodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { parseKey, removedKey, sessionPrefix } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";
import { requireNoOpenRun } from "./open_run.ts";
import { removedError, removeObjects } from "./session_remote.ts";

/**
 * Puts the tombstone, then removes all other objects of the session. Interrupted, it leaves the tombstone; the next call
 * removes the rest. Returns the number of removed objects.
 *
 * @throws {RepriseError} `no_such_session` if the remote never had it, `session_removed` if nothing of it is left,
 * `session_open_elsewhere` while a run keeps it open, or a writer adds objects; as {@linkcode ObjectStore} does.
 */
export async function removeRemotely(
  store: ObjectStore,
  id: SessionId,
  { at }: {
    /** ISO 8601 UTC. */
    readonly at: string;
  },
): Promise<number> {
  let isRemoved = false;
  let isEmpty = true;
  let newest = 0;
  for await (const { key, isReachable } of store.list(sessionPrefix(id))) {
    if (!isReachable) continue;
    const parts = parseKey(key);
    if (parts?.kind === "removed") isRemoved = true;
    else isEmpty = false;
    if (parts?.kind === "turn") newest = Math.max(newest, parts.turn);
  }
  if (isEmpty) throw isRemoved ? removedError(id, store.name) : noRemoteSession(id, store.name);
  if (!isRemoved) {
    await requireNoOpenRun(store, id, newest);
    await putTombstone(store, id, at);
  }
  return await removeObjects(store, id);
}

async function putTombstone(store: ObjectStore, id: SessionId, at: string): Promise<void> {
  const bytes = encodeUtf8(`${JSON.stringify({ removed_at: at })}\n`);
  const deadline = store.deadline();
  for (let attempt = 1;; attempt++) {
    const answer = await store.putNew(removedKey(id), bytes, deadline);
    // Another call may have put it: any tombstone will do.
    if (answer !== "unknown" || await store.get(removedKey(id), deadline) !== null) return;
    if (!await store.waitAfter(attempt, deadline)) break;
  }
  throw new RepriseError(
    "remote_unreachable",
    `Cannot remove session "${id}" from ${store.name}: no put is kept`,
    {
      hint: "Try again; nothing was removed",
      details: { session: id, remote: store.name },
    },
  );
}

/** Creates the error for a session that a remote does not have. */
export function noRemoteSession(id: SessionId, remote: string): RepriseError {
  return new RepriseError(
    "no_such_session",
    `Cannot find session "${id}" on ${remote}: it has no turn of it`,
    {
      hint: "List the sessions there: reprise ls --remote",
      details: { session: id, remote },
    },
  );
}

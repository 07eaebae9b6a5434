/**
 * Removes what a removed session left.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { removedKey, sessionPrefix } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";

/** Most lists: each one may hold objects that a writer put after the one before. */
const MOST_LISTS = 20;

/**
 * Removes all objects of a session but its tombstone, until a list holds none: a writer that looked for the tombstone
 * before it was put may still add some. Returns the number of removed objects.
 *
 * @throws {RepriseError} `session_open_elsewhere` if a writer keeps adding objects; as {@linkcode ObjectStore} does.
 */
export async function removeObjects(store: ObjectStore, id: SessionId): Promise<number> {
  let removed = 0;
  for (let list = 1; list <= MOST_LISTS; list++) {
    const keys: string[] = [];
    for await (const { key } of store.list(sessionPrefix(id))) {
      if (key !== removedKey(id)) keys.push(key);
    }
    if (keys.length === 0) return removed;
    // The first turns last: until then a list shows that something is left.
    for (const key of keys.reverse()) await store.remove(key);
    removed += keys.length;
  }
  throw new RepriseError(
    "session_open_elsewhere",
    `Cannot remove all of session "${id}" from ${store.name}: a writer keeps putting objects there`,
    {
      hint: `End the writer, then remove the session again: reprise rm ${id} --remote`,
      details: { session: id, remote: store.name },
    },
  );
}

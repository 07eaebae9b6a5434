/** The sessions of a remote, for verbs that look at all of them. */
import type { ObjectStore } from "../../remote/object_store.ts";
import { remoteContent, type RemoteSession } from "../../remote/sessions.ts";
import { headOf } from "../../domain/text.ts";
import type { Output } from "../output.ts";

/** Most keys that are named, and letters of each. */
const [MOST_NAMED, MOST_LETTERS] = [3, 80];

/** Lists the sessions of a remote; names objects that are passed over on stderr. Throws as {@linkcode ObjectStore} does. */
export async function remoteSessions(
  { output }: { readonly output: Output },
  store: ObjectStore,
): Promise<readonly RemoteSession[]> {
  const { sessions, unreachable } = await remoteContent(store);
  for (const key of unreachable.slice(0, MOST_NAMED)) {
    output.note(
      `passed over ${
        JSON.stringify(headOf(key, MOST_LETTERS))
      } on ${store.name}: no request can name this key`,
    );
  }
  const more = unreachable.length - MOST_NAMED;
  if (more > 0) output.note(`passed over ${more} more such keys`);
  return sessions;
}

/** Open runs of other homes, which the age of the newest turn on the remote protects. */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { isBetweenRuns, type Turn } from "../domain/turn.ts";
import type { SessionPaths } from "../store/layout.ts";
import { isSavedHere } from "../store/write/pending.ts";
import { copiesOf, localTurn } from "./copies.ts";
import { turnKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";

/** Age from which an open run counts as killed, in milliseconds. */
const ABANDONED_MS = 15 * 60 * 1000;

/**
 * Refuses to close a run that another home may be working on: one that is open after turn `newest`, the last one that both
 * have, if this home did not save that turn and the store got it in the last 15 minutes.
 *
 * @throws {RepriseError} `session_open_elsewhere` with the age; `session_damaged`; as {@linkcode ObjectStore} does; the
 * runtime's errors.
 */
export async function requireAbandoned(
  ports: Ports,
  store: ObjectStore,
  { paths, newest }: { readonly paths: SessionPaths; readonly newest: number },
): Promise<void> {
  if (!isOpenAfter(ports, paths, newest) || isSavedHere(ports, paths, localTurn(ports, paths, newest))) {
    return;
  }
  const ageMs = (await store.get(turnKey(paths.id, newest)))?.ageMs ?? Infinity;
  if (ageMs >= ABANDONED_MS) return;
  const seconds = Math.round(ageMs / 1000);
  throw new RepriseError(
    "session_open_elsewhere",
    `Cannot continue session "${paths.id}": another home was working on its open run ${seconds} seconds ago`,
    {
      hint: `Wait for it, or end its run: reprise run -s ${paths.id} --take-over "…"`,
      details: { session: paths.id, age_seconds: seconds, remote: store.name },
    },
  );
}

/** True if a run is open after a turn. */
function isOpenAfter(ports: Ports, paths: SessionPaths, last: number): boolean {
  for (let number = last; number > 0; number--) {
    const turn = localTurn(ports, paths, number);
    if (endsRun(turn)) return false;
    if (!isBetweenRuns(turn)) return true;
  }
  return false;
}

function endsRun({ events }: Turn): boolean {
  return events.some(({ type }) => type === "run_ended");
}

/**
 * Refuses to remove a session while its newest turn is one of an open run, and young. A damaged turn may be one.
 *
 * @throws {RepriseError} `session_open_elsewhere` with the age; as {@linkcode ObjectStore} does.
 */
export async function requireNoOpenRun(store: ObjectStore, id: SessionId, newest: number): Promise<void> {
  const ageMs = (await store.get(turnKey(id, newest)))?.ageMs ?? Infinity;
  if (ageMs >= ABANDONED_MS) return;
  const turn = (await copiesOf(store, id, newest)).intact?.turn;
  if (turn !== undefined && (endsRun(turn) || isBetweenRuns(turn))) return;
  const seconds = Math.round(ageMs / 1000);
  throw new RepriseError(
    "session_open_elsewhere",
    `Cannot remove session "${id}" from ${store.name}: a run was working on it ${seconds} seconds ago`,
    {
      hint: "Wait for the run; a killed one counts for 15 minutes",
      details: { session: id, age_seconds: seconds, remote: store.name },
    },
  );
}

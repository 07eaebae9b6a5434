/**
 * Equality of a session and its copy on a remote, before a writer adds to both.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { storageError } from "../store/fs_errors.ts";
import type { Home } from "../store/home.ts";
import { sessionPaths } from "../store/layout.ts";
import type { LockOptions } from "../store/write/file_lock.ts";
import { lastTurnOf, readSessionTail } from "../store/read/session.ts";
import { fetchTurns } from "./fetch.ts";
import { removedKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";
import { requireAbandoned, requireNothingClosed } from "./open_run.ts";
import { pushTurns } from "./push.ts";
import { SessionRemote } from "./session_remote.ts";
import { remoteTurns, requireOneHistory } from "./standing.ts";

/** Options of {@linkcode attachSession}. */
export interface AttachOptions extends Partial<LockOptions> {
  readonly id: SessionId;
  /** Close a run that another home may be working on. */
  readonly takeOver: boolean;
}

/**
 * Fetches what is missing here, or puts what is missing there. Writes nothing if the two went different ways.
 *
 * @throws {RepriseError} `no_such_session` if it is at neither place; `session_diverged`, `session_removed`,
 * `session_open_elsewhere`; as {@linkcode fetchTurns} and {@linkcode pushTurns} do.
 */
export async function attachSession(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { id, takeOver, ...wait }: AttachOptions,
): Promise<SessionRemote> {
  const paths = sessionPaths(home.sessions, id);
  const remote = new SessionRemote(store, id);
  try {
    const standing = await requireOneHistory(ports, store, { paths, last: lastTurnOf(ports, paths) });
    if (standing.state === "same" && standing.turns === 0) throw nowhere(id, store.name);
    if (standing.state === "longer_here") {
      if (!takeOver) await requireNothingClosed(ports, home, store, { paths, common: standing.common });
      await pushTurns(ports, remote, { paths, ...standing });
    }
    if (standing.state === "longer_there") {
      await fetchTurns(ports, home, store, { id, last: standing.last, ...wait });
    }
    const { manifest } = readSessionTail(ports, home, id);
    if (manifest.state === "open" && !takeOver) {
      const isOurs = standing.state === "longer_here";
      await requireAbandoned(ports, home, store, { id, lastTurn: manifest.head.turn, isOurs });
    }
    return remote;
  } catch (error) {
    throw storageError(error, `compare session "${id}" with ${store.name}`, paths.root);
  }
}

/**
 * Requires that no session of this id is on the remote, or was.
 *
 * @throws {RepriseError} `session_exists`; as {@linkcode ObjectStore} does.
 */
export async function requireUnusedRemotely(store: ObjectStore, id: SessionId): Promise<void> {
  const isUsed = (await remoteTurns(store, id)).length > 0 || await store.get(removedKey(id)) !== null;
  if (!isUsed) return;
  throw new RepriseError(
    "session_exists",
    `Cannot create session "${id}": ${store.name} has one of this id`,
    {
      hint: `Continue it with "reprise run -s ${id}", or choose another id`,
      details: { session: id, remote: store.name },
    },
  );
}

function nowhere(id: SessionId, remote: string): RepriseError {
  return new RepriseError(
    "no_such_session",
    `Cannot open session "${id}": it is neither here nor on ${remote}`,
    {
      hint: 'List the sessions with "reprise ls"',
    },
  );
}

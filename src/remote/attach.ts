/** Equality of a session and its copy on a remote. */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { noSuchSession, storageError } from "../store/fs_errors.ts";
import type { Home } from "../store/home.ts";
import { sessionPaths } from "../store/layout.ts";
import type { LockOptions } from "../store/write/file_lock.ts";
import { lastTurnOf } from "../store/read/session.ts";
import { fetchTurns, followRemote } from "./fetch.ts";
import { removedKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";
import { requireAbandoned } from "./open_run.ts";
import { diverged, pushTurns } from "./push.ts";
import { SessionRemote } from "./session_remote.ts";
import { remoteTurns, standingOf } from "./standing.ts";

export interface AttachOptions extends LockOptions {
  readonly id: SessionId;
  /** Close a run that another home may be working on. */
  readonly takeOver: boolean;
}

export interface LevelOptions extends AttachOptions {
  /** Only counts. */
  readonly dryRun?: boolean;
  /** Keeps the turns of this home if both went different ways: then the remote is followed. */
  readonly keep?: (() => Promise<void>) | undefined;
}

/**
 * Fetches what is missing here, or puts what is missing there. Writes nothing if the two went different ways, unless the
 * turns of this home can be kept.
 *
 * @throws {RepriseError} `no_such_session` if it is at neither place; `session_diverged`, `session_removed`,
 * `session_open_elsewhere`; as {@linkcode fetchTurns} and {@linkcode pushTurns} do; the runtime's errors.
 */
export async function exchangeTurns(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { id, takeOver, dryRun = false, keep, ...wait }: LevelOptions,
): Promise<{
  readonly remote: SessionRemote;
  readonly put: number;
  readonly fetched: number;
  /** Fetched blobs. */
  readonly blobs: number;
  /** True if both had gone different ways. */
  readonly followed: boolean;
}> {
  const paths = sessionPaths(home.sessions, id);
  const remote = new SessionRemote(store, id);
  const nothing = { remote, put: 0, fetched: 0, blobs: 0, followed: false };
  const standing = await standingOf(ports, store, { paths, last: lastTurnOf(ports, paths) });
  switch (standing.state) {
    case "same":
      if (standing.turns === 0) throw nowhere(id, store.name);
      return nothing;
    case "longer_here": {
      const { common, last } = standing;
      if (!takeOver) await requireAbandoned(ports, store, { paths, newest: common });
      if (!dryRun) await pushTurns(ports, remote, { paths, common, last });
      return { ...nothing, put: last - common };
    }
    case "longer_there": {
      const { common, last } = standing;
      if (dryRun) return { ...nothing, fetched: last - common };
      return { ...nothing, ...await fetchTurns(ports, home, store, { id, last, ...wait }) };
    }
    case "diverged": {
      const { parts, there } = standing;
      if (keep === undefined) throw diverged(id, { parts, remote: store.name });
      const fetched = dryRun
        ? { fetched: there - parts + 1 }
        // What the fork could not take over stays in quarantine.
        : await followRemote(ports, home, store, { id, last: there, after: parts - 1, keep, ...wait });
      return { ...nothing, ...fetched, followed: true };
    }
  }
}

/**
 * Makes both copies equal, for a writer that adds to both and may close an open run.
 *
 * @throws {RepriseError} as {@linkcode exchangeTurns} does.
 */
export async function attachSession(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  options: AttachOptions,
): Promise<SessionRemote> {
  const paths = sessionPaths(home.sessions, options.id);
  try {
    const { remote, put } = await exchangeTurns(ports, home, store, options);
    const isTaken = put > 0 || options.takeOver;
    if (!isTaken) await requireAbandoned(ports, store, { paths, newest: lastTurnOf(ports, paths) });
    return remote;
  } catch (error) {
    throw storageError(error, `compare session "${options.id}" with ${store.name}`, paths.root);
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
  return noSuchSession(id, { tried: `open session "${id}"`, found: `it is neither here nor on ${remote}` });
}

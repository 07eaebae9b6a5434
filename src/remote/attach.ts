/** Makes a session and its copy on a remote equal: compares them, and puts or fetches the turns that one of them lacks. */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { noSuchSession, storageError } from "../store/fs_errors.ts";
import type { Home } from "../store/home.ts";
import { type SessionPaths, sessionPaths, turnPath } from "../store/layout.ts";
import { lastTurnOf } from "../store/read/session.ts";
import { readTurn } from "../store/read/turn.ts";
import type { LockOptions } from "../store/write/file_lock.ts";
import { namedBlobs, type TurnRemote } from "../store/write/turn_remote.ts";
import { localTurn, remoteSum } from "./copies.ts";
import { fetchTurns, followRemote } from "./fetch.ts";
import { parseKey, removedKey, turnKey, turnsPrefix } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";
import { requireAbandoned } from "./open_run.ts";
import { removedError, SessionRemote } from "./session_remote.ts";

interface AttachOptions extends LockOptions {
  readonly id: SessionId;
  /** Close a run that another home may be working on. */
  readonly takeOver: boolean;
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
  { id, takeOver, dryRun = false, keep, ...wait }: AttachOptions & {
    /** Only counts. */
    readonly dryRun?: boolean;
    /** Keeps the turns of this home if both went different ways: then the remote is followed. */
    readonly keep?: (() => Promise<void>) | undefined;
  },
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
      if (standing.turns > 0) return nothing;
      throw noSuchSession(id, {
        tried: `open session "${id}"`,
        found: `it is neither here nor on ${store.name}`,
      });
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

/** Difference between a session and its copy. Each turn names the one before, so those before equal turns are equal. */
type Standing =
  /** `turns` are equal and the last ones of both. */
  | { readonly state: "same"; readonly turns: number }
  /** The remote lacks the turns after `common`, up to `last`; all of them if `common` is 0. */
  | { readonly state: "longer_here"; readonly common: number; readonly last: number }
  /** This home lacks the turns after `common`, up to `last`. */
  | { readonly state: "longer_there"; readonly common: number; readonly last: number }
  /** Both have turn `parts`, and they differ; the turns before it are equal. */
  | { readonly state: "diverged"; readonly parts: number; readonly here: number; readonly there: number };

/** Numbers of the turns on the remote after turn `after`, ascending; those of replacements are left out. */
export async function remoteTurns(store: ObjectStore, id: SessionId, after = 0): Promise<number[]> {
  const numbers: number[] = [];
  const options = after === 0 ? {} : { after: turnKey(id, after) };
  for await (const { key } of store.list(turnsPrefix(id), options)) {
    const parts = parseKey(key);
    if (parts?.kind === "turn" && parts.replacement === 0 && parts.turn > after) numbers.push(parts.turn);
  }
  return numbers.sort((a, b) => a - b);
}

/**
 * Compares. `last` is the last turn here; 0 if the session is not here.
 *
 * @throws {RepriseError} `session_removed`; `session_damaged` if the last turn that both should have is damaged on a side, or turns are
 * missing on the remote before its last one; `format_too_new`; as {@linkcode ObjectStore} does; the runtime's errors.
 */
async function standingOf(
  ports: Ports,
  store: ObjectStore,
  { paths, last }: { readonly paths: SessionPaths; readonly last: number },
): Promise<Standing> {
  const { id } = paths;
  if (await store.get(removedKey(id)) !== null) throw removedError(id, store.name);
  // One request is enough unless the remote lacks turns of this home.
  const from = Math.max(0, last - 1);
  const later = await lastThere(store, id, from);
  const there = later > from || from === 0 ? later : await lastThere(store, id, 0);
  const isEqual = async (turn: number) => {
    const read = readTurn(ports, turnPath(paths, turn));
    return read.status === "ok" && read.turn.sum === await remoteSum(store, id, turn);
  };
  const shared = Math.min(last, there);
  const sum = shared === 0 ? null : localTurn(ports, paths, shared).sum;
  const sumThere = shared === 0 ? null : await remoteSum(store, id, shared);
  if (shared > 0 && sumThere === null) {
    throw damagedThere(id, { remote: store.name, turn: shared, found: "is damaged there" });
  }
  if (sum === sumThere) {
    if (last === there) return { state: "same", turns: last };
    return last > there
      ? { state: "longer_here", common: shared, last }
      : { state: "longer_there", common: shared, last: there };
  }
  let [equal, parts] = [0, shared];
  while (parts - equal > 1) {
    const middle = Math.floor((equal + parts) / 2);
    if (await isEqual(middle)) equal = middle;
    else parts = middle;
  }
  return { state: "diverged", parts, here: last, there };
}

/** The last turn on the remote; `after` if it has none after that turn. */
async function lastThere(store: ObjectStore, id: SessionId, after: number): Promise<number> {
  const numbers = await remoteTurns(store, id, after);
  const gap = numbers.findIndex((number, index) => number !== after + 1 + index);
  if (gap === -1) return after + numbers.length;
  throw damagedThere(id, { remote: store.name, turn: after + 1 + gap, found: "is missing there" });
}

function damagedThere(
  id: SessionId,
  { remote, turn, found }: { readonly remote: string; readonly turn: number; readonly found: string },
): RepriseError {
  return new RepriseError(
    "session_damaged",
    `Cannot compare session "${id}" with ${remote}: turn ${turn} ${found}`,
    {
      hint: `Repair it in a home that has turn ${turn}: reprise repair ${id}`,
      details: { session: id, turn, remote },
    },
  );
}

/** Number of turns after which the tombstone is looked for again. */
const LOOK_EVERY = 16;

/**
 * Puts the turns. Interrupted, it leaves a shorter copy, which the next call continues.
 *
 * @throws {RepriseError} `session_diverged` if the remote got another turn meanwhile; as {@linkcode TurnRemote.store}
 * does; `session_damaged`; the runtime's errors.
 */
async function pushTurns(ports: Ports, remote: TurnRemote, { paths, common, last }: {
  readonly paths: SessionPaths;
  /** The last turn that the remote has. */
  readonly common: number;
  readonly last: number;
}): Promise<void> {
  for (let number = common + 1; number <= last; number++) {
    const turn = localTurn(ports, paths, number);
    const bytes = ports.files.read(turnPath(paths, number));
    const put = await remote.store({ turn, bytes, blobs: namedBlobs(ports, paths, turn) });
    if (put === "lost") throw diverged(paths.id, { parts: number, remote: remote.name });
    // A removal during a long push ends it soon, and leaves nothing that was put after it.
    if (number === last || number % LOOK_EVERY === 0) await remote.requireNotRemoved();
  }
}

/** Creates the error for a session that went another way on the remote; nothing was changed on either side. */
export function diverged(
  id: SessionId,
  { parts, remote }: { readonly parts: number; readonly remote: string },
): RepriseError {
  return new RepriseError(
    "session_diverged",
    `Cannot continue session "${id}": from turn ${parts} on, ${remote} has other turns than this home`,
    {
      hint: `Keep both: reprise sync ${id} --keep-mine-as NEW-ID`,
      details: { session: id, turn: parts, remote },
    },
  );
}

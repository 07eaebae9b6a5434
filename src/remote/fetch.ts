/**
 * Fetches turns and blobs of a session from a remote. Each turn is verified before it gets its number here, so that a
 * fetch that was interrupted leaves a shorter session, and the next one continues it.
 */
import { RepriseError } from "../domain/errors.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { SessionId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { wholeManifest } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import type { Turn } from "../domain/turn.ts";
import { blobPath, blobsOf, type BlobUse, lostBlobsIn, publishBlob } from "../store/blobs.ts";
import { isTaken, storageError } from "../store/fs_errors.ts";
import type { Home } from "../store/home.ts";
import { type SessionPaths, sessionPaths, turnPath } from "../store/layout.ts";
import { removeDirectory } from "../store/lifecycle/staging.ts";
import { findLineage, type Lineage, LineageSearch } from "../store/read/lineage.ts";
import { lastTurnOf, readHistory } from "../store/read/session.ts";
import { HistoryValidator } from "../store/read/validate.ts";
import type { FileLock, LockOptions } from "../store/write/file_lock.ts";
import { lockSession } from "../store/write/lock.ts";
import { forgetSaves } from "../store/write/pending.ts";
import {
  ensureDurableDirectory,
  orSyncFailed,
  quarantineTurn,
  replaceManifest,
  writeNew,
} from "../store/write/publish.ts";
import { makeSessionDirectory, prepareSession } from "../store/write/session_directory.ts";
import { type Copies, copiesOf, prefetched } from "./copies.ts";
import { blobKey } from "./keys.ts";
import type { ObjectStore, StoredObject } from "./object_store.ts";

/** Largest blob that is loaded before its turn is verified; a larger one is loaded alone. */
const MAX_AHEAD_BYTES = 1024 * 1024;

interface FetchOptions extends LockOptions {
  readonly id: SessionId;
  readonly last: number;
}

/** Numbers of fetched files. */
interface Fetched {
  /** Number of turns. */
  readonly fetched: number;
  readonly blobs: number;
}

/**
 * Fetches the turns after the last one here, up to `last`, under the session's lock.
 *
 * @throws {RepriseError} `session_damaged` if a turn or blob on the remote is damaged, or does not follow; as
 * {@linkcode ObjectStore} does; `session_locked`, `storage_*`.
 */
export async function fetchTurns(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { id, last, ...wait }: FetchOptions,
): Promise<Fetched> {
  const paths = sessionPaths(home.sessions, id);
  let lock: FileLock | null = null;
  const isNew = ports.files.facts(paths.root) === null;
  try {
    makeSessionDirectory(ports, home, paths);
    lock = await lockSession(ports, paths, wait);
    prepareSession(ports, home, paths);
    ensureDurableDirectory(ports, paths.blobs);
    return await fetchLocked(ports, store, { paths, last });
  } catch (error) {
    if (isNew && lock !== null) removeEmpty(ports, home, paths, lock);
    throw storageError(error, `fetch session "${id}" from ${store.name}`, paths.root);
  } finally {
    lock?.release();
  }
}

/** Removes a directory that this call created and that got no turn. May fail: `rm --unused` removes it too. */
function removeEmpty(ports: Ports, home: Home, paths: SessionPaths, lock: FileLock): void {
  try {
    if (lastTurnOf(ports, paths) === 0) removeDirectory(ports, home, { path: paths.root, lock });
  } catch { /* The error of the fetch says more. */ }
}

/** Turns that replace those of this home. */
interface FollowOptions extends FetchOptions {
  /** The last turn that both have. */
  readonly after: number;
  /** Keeps the turns of this home. Called once the turns of the remote are verified, before a turn here is moved. */
  readonly keep: () => Promise<void>;
}

/**
 * Moves the turns after turn `after` to quarantine, and fetches those of the remote instead, under the session's lock. If
 * the remote's turns cannot be fetched, the session here is not changed.
 *
 * @throws {RepriseError} as {@linkcode fetchTurns} and `keep` do.
 */
export async function followRemote(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { id, last, after, keep, ...wait }: FollowOptions,
): Promise<Fetched> {
  const paths = sessionPaths(home.sessions, id);
  const lock = await lockSession(ports, paths, wait);
  try {
    ensureDurableDirectory(ports, paths.blobs);
    const here = readHistory(ports, paths).turns.slice(0, after);
    let checked = 0;
    for await (const { blobs } of verifiedTurns(ports, store, { paths, here, last })) checked += blobs;
    await keep();
    setAsideTurns(ports, paths, after);
    const { fetched, blobs } = await fetchLocked(ports, store, { paths, last });
    return { fetched, blobs: checked + blobs };
  } catch (error) {
    throw storageError(error, `fetch session "${id}" from ${store.name}`, paths.root);
  } finally {
    lock.release();
  }
}

/**
 * Moves the turns after turn `after` to `quarantine/`, the newest first, so that a kill leaves a whole session.
 * The caller holds the session's lock. Throws `session_damaged`, and the runtime's errors.
 */
function setAsideTurns(ports: Ports, paths: SessionPaths, after: number): void {
  const late = readHistory(ports, paths).turns.slice(after).reverse();
  if (late.length === 0) return;
  const { files } = ports;
  // It names the newest turn, and is made again from the turns.
  if (files.facts(paths.manifest) !== null) files.unlink(paths.manifest);
  orSyncFailed(() => files.syncDirectory(paths.root));
  for (const turn of late) {
    const path = turnPath(paths, turn.turn);
    try {
      quarantineTurn(ports, paths, { turn, temporary: path });
    } catch (error) {
      if (!isTaken(error)) throw error;
      // A killed call kept it: the name in quarantine holds the turn's sum.
      files.unlink(path);
    }
    orSyncFailed(() => files.syncDirectory(paths.turns));
  }
}

async function fetchLocked(
  ports: Ports,
  store: ObjectStore,
  { paths, last }: Omit<MissingTurns, "here">,
): Promise<Fetched> {
  const { turns: here, manifestIsNewer } = readHistory(ports, paths);
  const fetched: Turn[] = [];
  let blobs = 0;
  for await (const { turn, bytes, blobs: loaded } of verifiedTurns(ports, store, { paths, here, last })) {
    // Before the first turn of another home has a name here.
    if (fetched.length === 0) forgetSaves(ports, paths);
    writeNew(ports, paths, { path: turnPath(paths, turn.turn), bytes });
    fetched.push(turn);
    blobs += loaded;
  }
  if (fetched.length > 0 && !manifestIsNewer) {
    try {
      const manifest = wholeManifest(paths.id, [...here, ...fetched]);
      if (manifest !== null) replaceManifest(ports, paths, manifest);
    } catch { /* The turns are durable, and the next reader makes it again from them. */ }
  }
  return { fetched: fetched.length, blobs };
}

/** The turns that this home lacks. */
interface MissingTurns {
  readonly paths: SessionPaths;
  /** All turns before them. */
  readonly here: readonly Turn[];
  /** Number of the last of them. */
  readonly last: number;
}

/** Reads the turns after those in `here` from the remote, verifies that each follows, and fetches its blobs. */
async function* verifiedTurns(
  ports: Ports,
  store: ObjectStore,
  missing: MissingTurns,
): AsyncGenerator<{
  readonly turn: Turn;
  readonly bytes: Uint8Array;
  /** Number of blobs that were fetched for it. */
  readonly blobs: number;
}> {
  const { paths, here } = missing;
  const lineage = await lineageOf(ports, store, missing);
  const validator = new HistoryValidator(paths.id, { lineage: () => lineage });
  for (const turn of here) validator.advance(turn);
  const lost = lostBlobsIn(here);
  const loading = blobLoader(ports, store, paths);
  const load = async (number: number) => {
    const copies = await copiesOf(store, paths.id, number);
    for (const use of copies.intact === null ? [] : blobsOf(copies.intact.turn)) {
      if (use.bytes !== undefined && use.bytes <= MAX_AHEAD_BYTES) await loading.load(use);
    }
    return copies;
  };
  for await (const copies of prefetched(numbersOf(missing), load)) {
    const { turn, bytes } = followingCopy(validator, copies, { id: paths.id, remote: store.name });
    for (const sha256 of lostBlobsIn([turn])) lost.add(sha256);
    yield { turn, bytes, blobs: await fetchBlobs(ports, loading, { paths, turn, lost }) };
  }
}

function* numbersOf({ here, last }: MissingTurns): Generator<number> {
  for (let number = here.length + 1; number <= last; number++) yield number;
}

/** Loads the blobs of turns, each once, also ahead of the turn. */
function blobLoader(ports: Ports, store: ObjectStore, paths: SessionPaths) {
  const loading = new Map<string, Promise<StoredObject | null>>();
  const isHere = (sha256: string) => ports.files.facts(blobPath(paths, sha256)) !== null;
  /** Loads a blob; `null` if it is here already, or not on the remote. */
  const load = async ({ sha256, bytes }: BlobUse): Promise<StoredObject | null> => {
    if (isHere(sha256)) return null;
    const found = loading.get(sha256) ?? store.get(blobKey(paths.id, sha256), undefined, bytes);
    loading.set(sha256, found);
    return await found;
  };
  /** Returns the blob, and keeps it no longer. */
  const take = async (use: BlobUse): Promise<StoredObject | null> => {
    const found = await load(use);
    loading.delete(use.sha256);
    return found;
  };
  return { isHere, load, take };
}

/** The sessions that may have written the turns, found before any turn gets its number here. */
async function lineageOf(ports: Ports, store: ObjectStore, missing: MissingTurns): Promise<Lineage> {
  const { paths, here } = missing;
  if (here.some(({ session }) => session === paths.id)) return findLineage(ports, paths);
  const search = new LineageSearch(paths.id);
  const load = (number: number) => copiesOf(store, paths.id, number);
  for await (const { number, files, intact } of prefetched(numbersOf(missing), load)) {
    // Turns after a missing one are not fetched.
    if (files.length === 0) break;
    const found = search.look(number, (intact?.turn ?? null) as JsonObject | null);
    if (found !== null) return found;
  }
  return search.end();
}

/** The newest usable copy of a turn, which must be the next one of the history. */
function followingCopy(
  validator: HistoryValidator,
  { number, files }: Copies,
  { id, remote }: { readonly id: SessionId; readonly remote: string },
): { readonly turn: Turn; readonly bytes: Uint8Array } {
  const refused = (why: string) =>
    new RepriseError("session_damaged", `Cannot fetch session "${id}": turn ${number} on ${remote} ${why}`, {
      hint: `Repair it in a home that has turn ${number}: reprise repair ${id}`,
      details: { session: id, turn: number, remote },
    });
  const file = files.findLast(({ read }) => read.status !== "damaged") ?? files[0];
  if (file === undefined) throw refused("is not on the remote");
  const { read, bytes } = file;
  if (read.status !== "ok") throw refused(read.message);
  const breach = validator.check(read.turn).find(({ severity }) => severity === "error");
  if (breach !== undefined) throw refused(breach.message);
  validator.advance(read.turn);
  return { turn: read.turn, bytes };
}

/** Fetches the blobs that a turn names and that are not here; returns their number. */
async function fetchBlobs(
  ports: Ports,
  loading: ReturnType<typeof blobLoader>,
  { paths, turn, lost }: {
    readonly paths: SessionPaths;
    readonly turn: Turn;
    readonly lost: ReadonlySet<string>;
  },
): Promise<number> {
  let fetched = 0;
  for (const use of blobsOf(turn)) {
    const { sha256, needed, by } = use;
    if (lost.has(sha256) || loading.isHere(sha256)) continue;
    const found = await loading.take(use);
    if (found !== null && sha256Hex(found.bytes) === sha256) {
      try {
        publishBlob(ports, paths, { sha256, bytes: found.bytes });
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
      fetched += 1;
    } else if (needed) {
      const what = found === null ? "is not on the remote" : "has other bytes there";
      const { id } = paths;
      throw new RepriseError("session_damaged", `Cannot fetch session "${id}": the blob ${sha256} ${what}`, {
        hint: `${by} of turn ${turn.turn} names it`,
        details: { session: id, turn: turn.turn, sha256 },
      });
    }
  }
  return fetched;
}

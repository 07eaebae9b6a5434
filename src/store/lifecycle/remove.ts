/** Removes sessions and leftovers. Each directory is removed under its lock. */
import type { Garbage, SkippedDirectory } from "../../schemas/maintenance.ts";
import { pendingNumbers } from "../write/pending.ts";
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import { isSessionId, type SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { sessionEntries } from "../check/entries.ts";
import { checkTurns } from "../check/turns.ts";
import { orStorageError, storageError } from "../fs_errors.ts";
import { type Home, namesInHome } from "../home.ts";
import { listSessions } from "../list.ts";
import {
  isBlobName,
  isHiddenName,
  measureBlobs,
  pathsAt,
  type SessionPaths,
  sessionPaths,
  turnNumbers,
} from "../layout.ts";
import { readManifest } from "../read/manifest.ts";
import { isLeftover, lookForDirectory, namesIn, readSafely } from "../read/safe_open.ts";
import { requireSession } from "../read/session.ts";
import { MAX_TURN_BYTES } from "../read/turn_file.ts";
import { inspectLock, lockSession } from "../write/lock.ts";
import { orSyncFailed, replaceManifest } from "../write/publish.ts";
import { emptyDirectory, removeDirectory } from "./staging.ts";

/**
 * Deletes a session in any state. Its forks keep the files that they share with it.
 *
 * @throws {RepriseError} `no_such_session`, `session_locked`, `session_damaged` if its directory is not ours,
 * `storage_*`; then `rm --unused` finishes the removal.
 */
export async function removeSession(ports: Ports, home: Home, id: SessionId): Promise<void> {
  const paths = sessionPaths(home.sessions, id);
  const tried = `remove session "${id}"`;
  orStorageError(tried, paths.root, () => requireSession(ports, paths));
  const lock = await lockSession(ports, paths, { toFree: true });
  try {
    orStorageError(tried, paths.root, () => removeDirectory(ports, home, { path: paths.root, lock }));
  } finally {
    lock.release();
  }
}

export interface GarbageReport {
  readonly removed: readonly Garbage[];
  /** Directories that were not cleaned, with the reason: in use, damaged, refused. */
  readonly skipped: readonly SkippedDirectory[];
}

/**
 * Removes files that no session needs: blobs that no turn names, temporary files, sessions without a turn, and
 * directories that a killed creation or removal left. With `dryRun` it only reports them.
 *
 * @throws {RepriseError} `storage_*` when the home cannot be listed.
 */
export async function collectGarbage(
  ports: Ports,
  home: Home,
  { dryRun }: { readonly dryRun: boolean },
): Promise<GarbageReport> {
  const removed: Garbage[] = [];
  const skipped: SkippedDirectory[] = [];
  for (const name of namesInHome(ports, home)) {
    if (!isSessionId(name) && !isHiddenName(name)) continue;
    try {
      removed.push(...await collectIn(ports, home, { name, dryRun }));
    } catch (error) {
      const { code, message } = storageError(error, `collect in "${name}"`, home.sessions);
      skipped.push({ path: name, code, why: message });
    }
  }
  return { removed, skipped };
}

async function collectIn(
  ports: Ports,
  home: Home,
  { name, dryRun }: { readonly name: string; readonly dryRun: boolean },
): Promise<Garbage[]> {
  // The name has a form that we write, so it may become a path even if it is no session's id.
  const paths = pathsAt(`${home.sessions}/${name}`, name as SessionId);
  const looked = lookForDirectory(ports, paths.root);
  if (looked.status === "missing") return [];
  if (looked.status === "refused") throw new RepriseError("session_damaged", `"${name}" ${looked.message}`);
  if (dryRun) {
    const { held } = await inspectLock(ports, paths);
    if (held) throw new RepriseError("session_locked", `"${name}" is in use`);
    return garbageIn(ports, paths, name);
  }
  const lock = await lockSession(ports, paths, { toFree: true });
  try {
    const garbage = garbageIn(ports, paths, name);
    for (const { kind, path } of garbage) {
      if (kind === "begun_session") removeDirectory(ports, home, { path: paths.root, lock });
      else if (kind === "half_made" || kind === "half_removed") {
        emptyDirectory(ports, home, { path: paths.root, lock });
      } else ports.files.unlink(`${home.sessions}/${path}`);
    }
    if (garbage.some(({ kind }) => kind === "blob")) {
      orSyncFailed(() => ports.files.syncDirectory(paths.blobs));
      measureAgain(ports, paths);
    }
    return garbage;
  } finally {
    lock.release();
  }
}

/** Updates the totals of the manifest after blobs were removed. May fail, as on a full disk: it is a cache. */
function measureAgain(ports: Ports, paths: SessionPaths): void {
  try {
    const file = readManifest(ports, paths);
    if (file.status !== "ok" || file.manifest.bytes === undefined) return;
    const bytes = { ...file.manifest.bytes, blobs: measureBlobs(ports, paths) };
    replaceManifest(ports, paths, { ...file.manifest, bytes });
  } catch {
    return;
  }
}

/** Removable files of one directory beside or among the sessions. No other process writes to it meanwhile. */
function garbageIn(ports: Ports, paths: SessionPaths, name: string): Garbage[] {
  if (isHiddenName(name)) {
    return [{ kind: name.startsWith(".new-") ? "half_made" : "half_removed", path: name }];
  }
  if (isOnlyBegun(ports, paths)) return [{ kind: "begun_session", path: name }];
  const temporary = ports.files.list(paths.root).filter((file) => isLeftover(ports, `${paths.root}/${file}`))
    .map((file): Garbage => ({ kind: "temporary", path: `${name}/${file}` }));
  const blobs = unnamedBlobs(ports, paths)
    .map((blob): Garbage => ({ kind: "blob", path: `${name}/blobs/${blob}` }));
  return [...temporary, ...blobs];
}

/** True for leftovers of a killed creation: no manifest, no turn, no waiting turn, no quarantine. */
function isOnlyBegun(ports: Ports, paths: SessionPaths): boolean {
  const turns = lookForDirectory(ports, paths.turns);
  if (turns.status === "refused" || ports.files.facts(paths.manifest) !== null) return false;
  if (ports.files.facts(paths.quarantine) !== null || pendingNumbers(ports, paths).length > 0) return false;
  return turnNumbers(namesIn(ports, paths.turns)).length === 0;
}

/** Blobs that no turn, waiting turn or file in quarantine names. Empty while a turn is unreadable: it may name some. */
function unnamedBlobs(ports: Ports, paths: SessionPaths): string[] {
  if (lookForDirectory(ports, paths.blobs).status !== "ok") return [];
  const { sound, blobs } = checkTurns(
    { ports, paths, add: () => {} },
    readManifest(ports, paths),
    sessionEntries(ports, paths),
  );
  if (!sound) {
    throw new RepriseError("session_damaged", `session "${paths.id}" is damaged: its blobs are kept`);
  }
  const named = new Set(blobs.keys());
  for (const directory of [paths.quarantine, paths.pending]) {
    for (const sha256 of namedInFiles(ports, directory)) named.add(sha256);
  }
  return ports.files.list(paths.blobs).filter((name) => isBlobName(name) && !named.has(name)).sort();
}

/** Texts in the files of a directory that could be names of blobs. */
function namedInFiles(ports: Ports, directory: string): string[] {
  return namesIn(ports, directory).flatMap((name) => {
    const read = readSafely(ports, `${directory}/${name}`, { maxBytes: MAX_TURN_BYTES });
    if (read.status === "refused") {
      throw new RepriseError("session_damaged", `"${directory}/${name}" ${read.message}: the blobs are kept`);
    }
    return read.status === "ok" ? decodeUtf8Leniently(read.bytes).match(/[0-9a-f]{64}/g) ?? [] : [];
  });
}

/** Rules of `rm`: it removes the sessions that any of them chooses. */
export interface Choice {
  /** Chooses sessions older than this, in milliseconds. */
  readonly olderThanMs?: number | undefined;
  /** Chooses all but this number of the newest sessions. */
  readonly keep?: number | undefined;
  /** Chooses sessions of more than this number of bytes. */
  readonly largerThan?: number | undefined;
}

export interface ChosenSession {
  readonly id: SessionId;
  readonly updated_at: string;
  /** Size of all its files, including those shared with a fork. */
  readonly bytes: number;
  readonly why: "age" | "number" | "size";
}

/**
 * Returns the sessions that the rules choose, oldest first. A session of unknown age is kept.
 *
 * @throws {RepriseError} `storage_*`.
 */
export function chooseSessions(ports: Ports, home: Home, choice: Choice): ChosenSession[] {
  const dated = listSessions(ports, home).flatMap(({ id, path, manifest }) =>
    manifest === null ? [] : [{ id, path, updated_at: manifest.updated_at }]
  );
  return chooseByRules(dated, choice, {
    now: ports.clock.now(),
    bytesOf: ({ path }) => orStorageError("measure the sessions", path, () => sizeOf(ports, path)),
  });
}

/** Returns the sessions that the rules choose, oldest first. `newestFirst` is in this order; `now` is in milliseconds. */
export function chooseByRules<Session extends Pick<ChosenSession, "id" | "updated_at">>(
  newestFirst: readonly Session[],
  { olderThanMs, keep, largerThan }: Choice,
  { now, bytesOf }: { readonly now: number; readonly bytesOf: (session: Session) => number },
): ChosenSession[] {
  let kept = 0;
  const doomed = newestFirst.flatMap((session): ChosenSession[] => {
    const { id, updated_at } = session;
    const bytes = bytesOf(session);
    const tooOld = olderThanMs !== undefined && now - Date.parse(updated_at) > olderThanMs;
    const tooLarge = largerThan !== undefined && bytes > largerThan;
    const why = tooOld ? "age" : tooLarge ? "size" : keep !== undefined && kept >= keep ? "number" : null;
    if (why !== null) return [{ id, updated_at, bytes, why }];
    kept++;
    return [];
  });
  return doomed.reverse();
}

function sizeOf(ports: Ports, path: string): number {
  const facts = ports.files.facts(path);
  if (facts === null) return 0;
  if (facts.kind !== "directory") return facts.size;
  return ports.files.list(path).reduce((sum, name) => sum + sizeOf(ports, `${path}/${name}`), 0);
}

/** Reads a session without its lock. Everything that is returned was checked first. */
import { RepriseError } from "../../domain/errors.ts";
import type { CheckpointRef } from "../../domain/event.ts";
import type { SessionId } from "../../domain/ids.ts";
import { advanceManifest, checkpointRefOf, type Manifest, wholeManifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobPath, loadBlob, lostBlobsIn } from "../blobs.ts";
import { noSuchSession, orStorageError, sessionDamaged, sessionTooNew } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import {
  insideSession,
  measureBlobs,
  type SessionPaths,
  sessionPaths,
  turnNumbers,
  turnPath,
} from "../layout.ts";
import { ANY_LINEAGE, findLineage } from "./lineage.ts";
import { type ManifestFile, readManifest } from "./manifest.ts";
import { hasDirectory, namesIn } from "./safe_open.ts";
import { type ReadTurn, readTurn, type TurnRead } from "./turn.ts";
import { HistoryValidator } from "./validate.ts";

interface SessionView {
  readonly id: SessionId;
  /** The session's directory. */
  readonly path: string;
  readonly manifest: Manifest;
  readonly turns: readonly Turn[];
}

/**
 * Reads a whole session and verifies what it reads: checksums, numbers, links, shapes.
 *
 * @throws {RepriseError} `no_such_session`, `session_damaged` (names file and finding), `format_too_new`, `storage_*`.
 */
export function readSession(ports: Ports, home: Home, id: SessionId): SessionView {
  const paths = sessionPaths(home.sessions, id);
  return viewOf(paths, readHistory(ports, paths));
}

/**
 * Reads the turns that the next request of a session needs: those from the checkpoint in force. Damage before it is not
 * found.
 *
 * @throws {RepriseError} as {@linkcode readSession}.
 */
export function readSessionTail(ports: Ports, home: Home, id: SessionId): SessionView {
  const paths = sessionPaths(home.sessions, id);
  return viewOf(paths, readRecent(ports, paths));
}

function viewOf(paths: SessionPaths, { manifest, turns }: History): SessionView {
  if (manifest === null) throw noTurnsError(paths);
  return { id: paths.id, path: paths.root, manifest, turns };
}

/** `no_such_session` for a directory whose creation was cut short. */
export function noTurnsError({ id, root }: SessionPaths): RepriseError {
  return new RepriseError("no_such_session", `Cannot open session "${id}": "${root}" holds no turn`, {
    hint: `Its creation was cut short; start it with "reprise run --new -s ${id}"`,
  });
}

/**
 * Reads a blob and checks its hash.
 *
 * @throws {TypeError} when `sha256` is not 64 lower-case hex digits.
 * @throws {RepriseError} `session_damaged` if it is missing or its content does not fit the hash; `storage_*`.
 */
export function readBlob(ports: Ports, home: Home, id: SessionId, sha256: string): Uint8Array {
  const paths = sessionPaths(home.sessions, id);
  const blob = readKept(ports, paths, sha256);
  if (blob.status === "ok") return blob.bytes;
  throw sessionDamaged(paths, blob.path, blob);
}

/**
 * Like {@linkcode readBlob}; `null` for a missing blob that a turn records as lost. Reads all turns to find out, unless
 * `lost` lists it.
 */
export function readBlobOrLost(
  ports: Ports,
  paths: SessionPaths,
  sha256: string,
  lost?: ReadonlySet<string>,
): Uint8Array | null {
  const blob = readKept(ports, paths, sha256);
  if (blob.status === "ok") return blob.bytes;
  const isLost = () => lost?.has(sha256) || lostBlobsIn(readHistory(ports, paths).turns).has(sha256);
  if (blob.code === "missing_blob" && isLost()) return null;
  throw sessionDamaged(paths, blob.path, blob);
}

/** Returns a reader of a session's blobs; `null` for those that `turns` record as lost. It throws as {@linkcode readBlobOrLost} does. */
export function blobReader(
  ports: Ports,
  home: Home,
  { id, turns }: { readonly id: SessionId; readonly turns: readonly Turn[] },
): (sha256: string) => Uint8Array | null {
  const lost = lostBlobsIn(turns);
  return (sha256) => readBlobOrLost(ports, sessionPaths(home.sessions, id), sha256, lost);
}

function readKept(ports: Ports, paths: SessionPaths, sha256: string) {
  const path = blobPath(paths, sha256);
  return orStorageError(`read a blob of session "${paths.id}"`, path, () => {
    requireSession(ports, paths);
    return { path, ...loadBlob(ports, paths, sha256) };
  });
}

/** Turns of a session: all of them, or those that the next request needs. */
export interface History {
  /** `null` for a session without turns. */
  readonly manifest: Manifest | null;
  /** In order; only those of {@linkcode readRecent} if a checkpoint represents the older ones. */
  readonly turns: Turn[];
  readonly validator: HistoryValidator;
  /** True if a later version wrote the manifest file: it is left alone. */
  readonly manifestIsNewer: boolean;
}

/**
 * Reads all turns of a session, in order.
 *
 * @throws {RepriseError} `session_damaged` with the first finding, `format_too_new`, `no_such_session`, `storage_*`.
 */
export function readHistory(ports: Ports, paths: SessionPaths): History {
  return orStorageError(`read session "${paths.id}"`, paths.root, () => {
    requireSession(ports, paths);
    return readAll(ports, paths, requireManifest(ports, paths));
  });
}

/**
 * Reads the turns that the next request needs: those after the checkpoint in force and, if that cuts into a run, the turn
 * with its user message. Without a checkpoint or a usable manifest, reads all turns.
 *
 * @throws {RepriseError} as {@linkcode readHistory}; damage before the checkpoint is not found.
 */
export function readRecent(ports: Ports, paths: SessionPaths): History {
  return orStorageError(`read session "${paths.id}"`, paths.root, () => {
    requireSession(ports, paths);
    const file = requireManifest(ports, paths);
    let from = file.status === "ok" ? file.manifest.checkpoint : null;
    while (file.status === "ok" && from !== null) {
      const recent = readBehind(ports, paths, { file, from });
      if (recent === null) break;
      // The manifest may lag: a later turn may have withdrawn this checkpoint, or cut before it.
      const inForce: CheckpointRef | null = recent.manifest?.checkpoint ?? null;
      if (inForce !== null && inForce.to_turn >= from.to_turn) return recent;
      from = inForce;
    }
    return readAll(ports, paths, file);
  });
}

function requireManifest(ports: Ports, paths: SessionPaths): ManifestFile {
  const file = readManifest(ports, paths);
  if (file.status === "refused") throw sessionDamaged(paths, paths.manifest, file);
  return file;
}

function readAll(ports: Ports, paths: SessionPaths, file: ManifestFile): History {
  const validator = new HistoryValidator(paths.id, { lineage: () => findLineage(ports, paths) });
  const read = readOn(ports, paths, validator);
  const turns = read.map(({ turn }) => turn);
  refuseGap(ports, paths, turns.length, file);
  // The file is only a cache: all turns were read.
  const manifest = wholeManifest(paths.id, turns);
  const bytes = { turns: sizeOf(read), blobs: measureBlobs(ports, paths) };
  return {
    manifest: manifest === null ? null : { ...manifest, bytes },
    turns,
    validator,
    manifestIsNewer: file.status === "newer",
  };
}

/** Reads the turns after a checkpoint; `null` if they do not fit the manifest. */
function readBehind(
  ports: Ports,
  paths: SessionPaths,
  { file, from }: { readonly file: ManifestFile & { status: "ok" }; readonly from: CheckpointRef },
): History | null {
  const validator = new HistoryValidator(paths.id, {
    after: { turn: from.to_turn, seq: from.to_seq },
    lineage: () => findLineage(ports, paths, { from: from.to_turn + 1 }),
  });
  const read = readOn(ports, paths, validator);
  const turns = read.map(({ turn }) => turn);
  refuseGap(ports, paths, from.to_turn + turns.length, file);
  const { head } = file.manifest;
  const known = turns.find(({ turn }) => turn === from.turn)?.events.find(({ seq }) => seq === from.seq);
  const bornOut = turns[0]?.seq[0] === from.to_seq + 1 && known?.type === "history_compaction" &&
    JSON.stringify(checkpointRefOf(known, from.turn)) === JSON.stringify(from) &&
    turns.find(({ turn }) => turn === head.turn)?.sum === head.sum;
  if (!bornOut || !agreesWith(file.manifest, turns.filter(({ turn }) => turn <= head.turn))) return null;
  const opening = from.opening_turn === null ? [] : readOpening(ports, paths, from.opening_turn);
  let manifest: Manifest = file.manifest;
  const late = read.filter(({ turn }) => turn.turn > head.turn);
  for (const { turn } of late) manifest = advanceManifest(manifest, paths.id, turn);
  const { bytes } = file.manifest;
  if (bytes !== undefined && late.length > 0) {
    // The writer of these turns was killed before it counted their blobs.
    const counted = { turns: bytes.turns + sizeOf(late), blobs: measureBlobs(ports, paths) };
    manifest = { ...manifest, bytes: counted };
  }
  return { manifest, turns: [...opening, ...turns], validator, manifestIsNewer: false };
}

function sizeOf(read: readonly ReadTurn[]): number {
  return read.reduce((sum, { size }) => sum + size, 0);
}

/** True if a manifest agrees with the newest turns up to its head; sums over all turns cannot be compared. */
function agreesWith(manifest: Manifest, turns: readonly Turn[]): boolean {
  let again = manifest;
  for (const turn of turns) again = advanceManifest(again, manifest.session, turn);
  const { usage, bytes } = manifest;
  return JSON.stringify({ ...again, usage, bytes }) === JSON.stringify(manifest);
}

/** Reads the turn whose user message stays verbatim; its neighbours are not read, so only its seal and shape are checked. */
function readOpening(ports: Ports, paths: SessionPaths, number: number): Turn[] {
  const validator = new HistoryValidator(paths.id, {
    after: { turn: number - 1, seq: 0 },
    lineage: () => ANY_LINEAGE,
  });
  const read = requireNext(paths, readTurn(ports, turnPath(paths, number)), validator);
  if (read !== null) return [read.turn];
  throw sessionDamaged(paths, turnPath(paths, number), {
    code: "missing_turn",
    message: "is missing, but the checkpoint in force names it",
  });
}

/** Reads the turns after the end of `validator`, up to the first number without a file. */
function readOn(ports: Ports, paths: SessionPaths, validator: HistoryValidator): ReadTurn[] {
  const turns: ReadTurn[] = [];
  for (;;) {
    const path = turnPath(paths, validator.end.turn + 1);
    const next = requireNext(paths, readTurn(ports, path), validator);
    if (next === null) return turns;
    turns.push(next);
  }
}

/**
 * The number of a session's last turn; 0 if it is not here. Turns are not read, so a gap goes unnoticed. Throws the
 * runtime's errors.
 */
export function lastTurnOf(ports: Ports, paths: SessionPaths): number {
  return turnNumbers(namesIn(ports, paths.turns)).at(-1) ?? 0;
}

/**
 * Refuses a session that does not exist, and directories that are not ours.
 *
 * @throws {RepriseError} `no_such_session`, `session_damaged`; the runtime's errors.
 */
export function requireSession(ports: Ports, paths: SessionPaths): void {
  const { id, root, turns, blobs, quarantine } = paths;
  if (!hasDirectory(ports, paths, root)) {
    throw noSuchSession(id, { tried: `open session "${id}"`, found: `nothing at "${root}"` });
  }
  for (const path of [turns, blobs, quarantine]) hasDirectory(ports, paths, path);
}

/** Requires that a read file is the next turn of a history, and advances its validator; `null` if there is none. */
function requireNext(paths: SessionPaths, read: TurnRead, validator: HistoryValidator): ReadTurn | null {
  if (read.status === "missing") return null;
  const path = () => turnPath(paths, validator.end.turn + 1);
  if (read.status === "newer") throw sessionTooNew(paths, insideSession(paths, path()), read.message);
  if (read.status === "damaged") throw sessionDamaged(paths, path(), read);
  const violation = validator.check(read.turn).find(({ severity }) => severity === "error");
  if (violation !== undefined) throw sessionDamaged(paths, path(), violation);
  validator.advance(read.turn);
  return read;
}

/**
 * Refuses turn files after the first free number. A valid manifest names the last turn, so one probe is enough;
 * without it, the names are listed.
 */
function refuseGap(ports: Ports, paths: SessionPaths, last: number, file: ManifestFile): void {
  const free = turnPath(paths, last + 1);
  const refuse = (found: number) => {
    // Numbers are taken in order: if the free number is taken now, a writer added turns during the check.
    if (ports.files.facts(free) !== null) return;
    throw sessionDamaged(paths, free, {
      code: "missing_turn",
      message: `is missing, but turn ${found} exists`,
    });
  };
  if (file.status === "ok") {
    const { turn } = file.manifest.head;
    if (turn > last) {
      throw sessionDamaged(paths, free, {
        code: "missing_turn",
        message: `is missing, but the manifest names turn ${turn} as the newest`,
      });
    }
    if (ports.files.facts(turnPath(paths, last + 2)) !== null) refuse(last + 2);
    return;
  }
  const beyond = turnNumbers(namesIn(ports, paths.turns)).find((turn) => turn > last);
  if (beyond !== undefined) refuse(beyond);
}

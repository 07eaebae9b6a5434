/**
 * Reading a session without its lock: everything that is believed was checked first.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobPath, loadBlob, lostBlobsIn } from "../blobs.ts";
import { damaged } from "../damage.ts";
import { orStorageError } from "../fs_errors.ts";
import { type History, readHistory, readRecent, requireSession } from "./history.ts";
import type { Home } from "../home.ts";
import { type SessionPaths, sessionPaths } from "../layout.ts";

/** A session as its files say it. */
export interface SessionView {
  readonly id: SessionId;
  /** The session's directory. */
  readonly path: string;
  readonly manifest: Manifest;
  readonly turns: readonly Turn[];
}

/**
 * Reads a whole session and verifies what it reads: checksums, numbers, chain, shapes.
 *
 * @throws {RepriseError} `no_such_session`, `session_damaged` (names file and finding), `format_too_new`, `storage_*`.
 */
export function readSession(ports: Ports, home: Home, id: SessionId): SessionView {
  return viewOf(ports, home, { id, read: readHistory });
}

/**
 * Reads what the next request of a session needs: from the checkpoint in force on. Damage before it is not found.
 *
 * @throws {RepriseError} as {@linkcode readSession}.
 */
export function readSessionTail(ports: Ports, home: Home, id: SessionId): SessionView {
  return viewOf(ports, home, { id, read: readRecent });
}

function viewOf(
  ports: Ports,
  home: Home,
  { id, read }: { readonly id: SessionId; readonly read: (ports: Ports, paths: SessionPaths) => History },
): SessionView {
  const paths = sessionPaths(home.sessions, id);
  const { manifest, turns } = read(ports, paths);
  if (manifest === null) throw noTurns(id, paths.root);
  return { id, path: paths.root, manifest, turns };
}

/** `no_such_session` for a directory whose creation was cut short. */
export function noTurns(id: SessionId, path: string): RepriseError {
  return new RepriseError("no_such_session", `Cannot open session "${id}": "${path}" holds no turn`, {
    hint: `Its creation was cut short; start it with "reprise run --new -s ${id}"`,
  });
}

/**
 * Reads a blob and checks its hash.
 *
 * @throws {TypeError} when `sha256` is not 64 lower-case hex digits.
 * @throws {RepriseError} `session_damaged` when it is missing or not that content; `storage_*`.
 */
export function readBlob(ports: Ports, home: Home, id: SessionId, sha256: string): Uint8Array {
  const blob = readKept(ports, home, { id, sha256 });
  if (blob.status === "ok") return blob.bytes;
  throw damaged(sessionPaths(home.sessions, id), blob.path, blob);
}

/**
 * Like {@linkcode readBlob}; `null` for a blob that is not there and of which a turn records that it is lost. All turns
 * are read for that, unless `lost` says which are.
 */
export function readBlobOrLost(
  ports: Ports,
  home: Home,
  { id, sha256, lost }: {
    readonly id: SessionId;
    readonly sha256: string;
    readonly lost?: ReadonlySet<string>;
  },
): Uint8Array | null {
  const blob = readKept(ports, home, { id, sha256 });
  if (blob.status === "ok") return blob.bytes;
  if (blob.code === "missing_blob") {
    const recorded = lost ?? lostBlobsIn(readSession(ports, home, id).turns);
    if (recorded.has(sha256)) return null;
  }
  throw damaged(sessionPaths(home.sessions, id), blob.path, blob);
}

function readKept(
  ports: Ports,
  home: Home,
  { id, sha256 }: { readonly id: SessionId; readonly sha256: string },
) {
  const paths = sessionPaths(home.sessions, id);
  const path = blobPath(paths, sha256);
  return orStorageError(`read a blob of session "${id}"`, path, () => {
    requireSession(ports, paths);
    return { path, ...loadBlob(ports, paths, sha256) };
  });
}

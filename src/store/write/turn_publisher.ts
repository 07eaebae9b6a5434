/** Gives a turn its number: here alone, or after a remote decided about the number. */
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { RepriseError } from "../../domain/errors.ts";
import { blobPath, blobsOf, lostBlobsIn } from "../blobs.ts";
import { isTaken, orStorageError, storageError } from "../fs_errors.ts";
import { type SessionPaths, turnPath } from "../layout.ts";
import { lookForFile } from "../read/safe_open.ts";
import { readHistory } from "../read/session.ts";
import { linkPending, pendingPath } from "./pending.ts";
import {
  claimName,
  ensureDurableDirectory,
  quarantineTurn,
  unlinkQuietly,
  writeNew,
  writeTemporary,
} from "./publish.ts";
import { namedBlobs, type TurnRemote } from "./turn_remote.ts";

/**
 * Requires each blob that the next request depends on. Adds those that it found to `known`.
 *
 * @throws {TypeError} if one is missing and no turn records it as lost; {@linkcode RepriseError} `storage_*`.
 */
export function requireBlobs(
  ports: Ports,
  paths: SessionPaths,
  { turn, known, tried }: { readonly turn: Turn; readonly known: Set<string>; readonly tried: string },
): void {
  for (const { sha256, needed, by } of blobsOf(turn)) {
    if (!needed || known.has(sha256)) continue;
    const path = blobPath(paths, sha256);
    const looked = orStorageError(tried, path, () => lookForFile(ports, path));
    // A checkpoint copies the pins of a run, which may name blobs that are known to be lost.
    if (looked.status !== "ok" && !lostBlobsIn(readHistory(ports, paths).turns).has(sha256)) {
      throw new TypeError(`Cannot ${tried}: ${by} names the blob ${sha256}, which is not there`);
    }
    known.add(sha256);
  }
}

/** Thrown if another turn has the number. The late turn is at `path`. */
export class NumberTaken extends Error {
  override readonly name = "NumberTaken";

  constructor(readonly path: string) {
    super("Another turn has this number");
  }
}

export interface NewTurn {
  readonly turn: Turn;
  /** The exact bytes of its file. */
  readonly bytes: Uint8Array;
  /** Runs right before each name is taken; its error leaves the name free. */
  readonly check: () => void;
}

/**
 * Writes a turn durably under its number. Throws the runtime's errors.
 *
 * @throws {NumberTaken}
 */
export function publishTurn(ports: Ports, paths: SessionPaths, { turn, bytes, check }: NewTurn): void {
  const path = turnPath(paths, turn.turn);
  const temporary = writeTemporary(ports, paths.root, { bytes, sync: true });
  try {
    // Checked between the temporary file and its name: after a replacement the link finds no temporary file.
    claimName(ports, temporary, path, check);
  } catch (error) {
    if (isTaken(error)) throw new NumberTaken(temporary);
    unlinkQuietly(ports.files, temporary);
    throw error;
  }
}

/**
 * Makes a turn durable in `pending/`, lets the remote decide about its number, then takes the number here. If the remote
 * gives no answer, the turn stays in `pending/`. Throws the runtime's errors, and those of {@linkcode TurnRemote.store}.
 *
 * @throws {NumberTaken}
 */
export async function publishTurnWith(
  remote: TurnRemote,
  ports: Ports,
  paths: SessionPaths,
  { turn, bytes, check }: NewTurn,
): Promise<void> {
  const path = pendingPath(paths, turn.turn);
  ensureDurableDirectory(ports, paths.pending);
  writeNew(ports, paths, { path, bytes, check });
  const blobs = namedBlobs(ports, paths, turn);
  if (await remote.store({ turn, bytes, blobs }) === "lost") throw new NumberTaken(path);
  try {
    linkPending(ports, paths, turn.turn, check);
  } catch (error) {
    throw isTaken(error) ? new NumberTaken(path) : error;
  }
}

/** Keeps the late turn in quarantine, and returns the error that says so. */
export function divergence(
  ports: Ports,
  paths: SessionPaths,
  late: { readonly turn: Turn; readonly temporary: string },
  tried: string,
): RepriseError {
  let kept: string;
  try {
    kept = `this turn is kept in ${quarantineTurn(ports, paths, late)}`;
  } catch (error) {
    kept = storageError(error, "keep this turn in quarantine/", late.temporary).message;
  }
  return new RepriseError(
    "session_diverged",
    `Cannot ${tried}: another writer has used that number; ${kept}`,
    {
      hint: `Look at both with "reprise show ${paths.id}", then run again`,
      details: { session: paths.id, turn: late.turn.turn },
    },
  );
}

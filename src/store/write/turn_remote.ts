/** The part of a remote that the writer needs: it decides about a turn's number before the number is taken locally. */
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobsOf } from "../blobs.ts";
import type { SessionPaths } from "../layout.ts";
import { readBlobOrLost } from "../read/session.ts";

/** A blob that a turn names, which may be on the remote already. */
export interface NamedBlob {
  readonly sha256: string;
  /** Reads its bytes from the session's directory; `null` if it is lost. */
  readonly read: () => Uint8Array | null;
}

/** A turn whose bytes are durable in `pending/`. */
export interface PendingTurn {
  readonly turn: Turn;
  /** The exact bytes of its file. */
  readonly bytes: Uint8Array;
  readonly blobs: readonly NamedBlob[];
}

/** The remote copy of one session. */
export interface TurnRemote {
  /** Address for messages. */
  readonly name: string;
  /**
   * Stores the blobs, then the turn under its number, if no other turn has that number.
   *
   * @returns `stored` once the remote has them; `lost` if another turn has the number.
   * @throws {RepriseError} `remote_unreachable` if no answer came in time: the turn may or may not be stored;
   * `remote_denied`, `no_such_bucket`, `session_removed` (a tombstone refuses puts).
   */
  store(pending: PendingTurn): Promise<"stored" | "lost">;
  /**
   * Looks again for a tombstone; if there is one, removes the objects that were put meanwhile.
   *
   * @throws {RepriseError} `session_removed`; `remote_unreachable`.
   */
  requireNotRemoved(): Promise<void>;
}

/** The blobs of a turn, each once. */
export function namedBlobs(ports: Ports, paths: SessionPaths, turn: Turn): NamedBlob[] {
  const names = new Set(blobsOf(turn).map(({ sha256 }) => sha256));
  return [...names].map((sha256) => ({ sha256, read: () => readBlobOrLost(ports, paths, sha256) }));
}

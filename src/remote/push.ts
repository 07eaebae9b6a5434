/** Puts turns that a remote lacks, in order, each after its blobs. */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import type { Turn } from "../domain/turn.ts";
import { sessionDamaged, sessionTooNew } from "../store/fs_errors.ts";
import { insideSession, type SessionPaths, turnPath } from "../store/layout.ts";
import { readTurn } from "../store/read/turn.ts";
import { namedBlobs, type TurnRemote } from "../store/write/turn_remote.ts";

/**
 * Reads a turn that must be here. Throws the runtime's errors.
 *
 * @throws {RepriseError} `session_damaged` if it is missing or damaged, `format_too_new`.
 */
export function localTurn(ports: Ports, paths: SessionPaths, number: number): Turn {
  const path = turnPath(paths, number);
  const read = readTurn(ports, path);
  if (read.status === "ok") return read.turn;
  if (read.status === "newer") throw sessionTooNew(paths, insideSession(paths, path), read.message);
  const message = read.status === "missing" ? "is missing" : read.message;
  throw sessionDamaged(paths, path, { code: "damaged_turn", message });
}

/** Number of turns after which the tombstone is looked for again. */
const LOOK_EVERY = 16;

/**
 * Puts the turns. Interrupted, it leaves a shorter copy, which the next call continues.
 *
 * @throws {RepriseError} `session_diverged` if the remote got another turn meanwhile; as {@linkcode TurnRemote.store}
 * does; `session_damaged`; the runtime's errors.
 */
export async function pushTurns(ports: Ports, remote: TurnRemote, options: {
  readonly paths: SessionPaths;
  /** The turns after this one, which the remote has. */
  readonly common: number;
  readonly last: number;
}): Promise<void> {
  const { paths, common, last } = options;
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

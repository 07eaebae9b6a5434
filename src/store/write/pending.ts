/**
 * Turns that wait for a remote: durable in `pending/` under their number, which the remote decides about before it is
 * taken locally. A turn leaves `pending/` for `turns/`, or for `quarantine/` if another turn got its number. The directory
 * itself stays while the newest turn is one that this home saved to the remote.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { type Turn, turnFileName } from "../../domain/turn.ts";
import { type SessionPaths, turnNumbers, turnPath } from "../layout.ts";
import { hasDirectory } from "../read/safe_open.ts";
import { readTurn } from "../read/turn.ts";
import type { HistoryEnd } from "../read/validate.ts";
import { claimName, orSyncFailed, quarantineTurn, unlinkQuietly } from "./publish.ts";
import { namedBlobs, type TurnRemote } from "./turn_remote.ts";

/** The path of a turn that waits. */
export function pendingPath(paths: SessionPaths, turn: number): string {
  return `${paths.pending}/${turnFileName(turn)}`;
}

/** Removes `pending/`, unless a turn waits in it: the newest turn is one of another home. Throws the runtime's errors. */
export function forgetSaves(ports: Ports, paths: SessionPaths): void {
  if (ports.files.facts(paths.pending) === null) return;
  unlinkQuietly(ports.files, paths.pending);
  orSyncFailed(() => ports.files.syncDirectory(paths.root));
}

/** True if this home saved the newest turn to the remote, or a turn waits that follows it. Throws the runtime's errors. */
export function isSavedHere(ports: Ports, paths: SessionPaths, { sum }: Pick<Turn, "sum">): boolean {
  if (ports.files.facts(paths.pending) === null) return false;
  const waiting = pendingNumbers(ports, paths).map((number) => readTurn(ports, pendingPath(paths, number)));
  return waiting.length === 0 ||
    waiting.some((read) => read.status === "ok" && (read.turn.sum === sum || read.turn.prev === sum));
}

/**
 * Numbers of the turns that wait, in order. Throws the runtime's errors.
 *
 * @throws {RepriseError} `session_damaged` if `pending/` is not ours.
 */
export function pendingNumbers(ports: Ports, paths: SessionPaths): number[] {
  const { pending } = paths;
  return hasDirectory(ports, paths, pending) ? turnNumbers(ports.files.list(pending)) : [];
}

/**
 * Resolves the turns that a killed writer left: each is linked to its number, or moved to quarantine. None is removed
 * before it has another name. Throws the runtime's errors.
 *
 * @returns the number of turns that became part of the session, which must be read again.
 * @throws {RepriseError} `bad_remote` if a turn waits and `remote` is `null`; as {@linkcode TurnRemote.store} does.
 */
export async function resolvePending(
  ports: Ports,
  paths: SessionPaths,
  { end, remote }: { readonly end: HistoryEnd; readonly remote: TurnRemote | null },
): Promise<number> {
  const numbers = pendingNumbers(ports, paths);
  if (numbers.length === 0) return 0;
  if (remote === null) {
    const { id } = paths;
    throw new RepriseError(
      "bad_remote",
      `Cannot write to session "${id}": a turn of it waits for its remote`,
      {
        hint: "Give the remote with --remote or REPRISE_REMOTE",
        details: { session: id },
      },
    );
  }
  let linked = 0;
  let isOurs = false;
  for (const number of numbers) {
    const path = pendingPath(paths, number);
    const read = readTurn(ports, path);
    const published = readTurn(ports, turnPath(paths, number));
    if (read.status === "ok" && published.status === "ok" && published.turn.sum === read.turn.sum) {
      // The writer was killed between the link and the removal.
      orSyncFailed(() => ports.files.syncDirectory(paths.turns));
      ports.files.unlink(path);
      isOurs = read.turn.sum === end.sum;
      continue;
    }
    if (
      read.status === "ok" && linked === 0 && read.turn.turn === end.turn + 1 && read.turn.prev === end.sum
    ) {
      const { turn } = read;
      const blobs = namedBlobs(ports, paths, turn);
      if (await remote.store({ turn, bytes: ports.files.read(path), blobs }) === "stored") {
        linkPending(ports, paths, number);
        linked += 1;
        continue;
      }
    }
    const late = read.status === "ok" ? read.turn : { turn: number, sum: "damaged" };
    quarantineTurn(ports, paths, { turn: late, temporary: path });
  }
  if (!isOurs && linked === 0) forgetSaves(ports, paths);
  return linked;
}

/**
 * Gives a turn that the remote has its number here, durably.
 *
 * @throws the runtime's `AlreadyExists` if the number is taken; `SyncFailed`.
 */
export function linkPending(ports: Ports, paths: SessionPaths, turn: number, check?: () => void): void {
  claimName(ports, pendingPath(paths, turn), turnPath(paths, turn), check);
}

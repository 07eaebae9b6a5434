/**
 * Shortens a session: its last turns go to quarantine.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { isTaken } from "../fs_errors.ts";
import { type SessionPaths, turnPath } from "../layout.ts";
import { readHistory } from "../read/session.ts";
import { orSyncFailed, quarantineTurn } from "../write/publish.ts";

/**
 * Moves the turns after turn `after` to `quarantine/`, the newest first, so that a kill leaves a whole session.
 * The caller holds the session's lock.
 *
 * @returns the number of moved turns.
 * @throws {RepriseError} `session_damaged`; the runtime's errors.
 */
export function setAsideTurns(
  ports: Ports,
  paths: SessionPaths,
  { after }: { readonly after: number },
): number {
  const late = readHistory(ports, paths).turns.slice(after).reverse();
  if (late.length === 0) return 0;
  // It names the newest turn, and is made again from the turns.
  if (ports.files.facts(paths.manifest) !== null) ports.files.unlink(paths.manifest);
  orSyncFailed(() => ports.files.syncDirectory(paths.root));
  for (const turn of late) {
    setAside(ports, paths, turn);
    orSyncFailed(() => ports.files.syncDirectory(paths.turns));
  }
  return late.length;
}

function setAside(ports: Ports, paths: SessionPaths, turn: { readonly turn: number; readonly sum: string }) {
  const path = turnPath(paths, turn.turn);
  try {
    quarantineTurn(ports, paths, { turn, temporary: path });
  } catch (error) {
    if (!isTaken(error)) throw error;
    // A killed call kept it: the name in quarantine holds the turn's sum.
    ports.files.unlink(path);
  }
}

/**
 * `quarantine/`: what was replaced or came too late. Nothing of ours is ever deleted from it.
 *
 * @module
 */
import type { Ports } from "../domain/ports.ts";
import { type Turn, turnFileName } from "../domain/turn.ts";
import type { SessionPaths } from "./layout.ts";
import { claimName, ensureDirectory } from "./publish.ts";

/** Puts a written turn whose number was taken into `quarantine/`, durably. Returns its path inside the session. */
export function quarantineTurn(
  ports: Ports,
  paths: SessionPaths,
  late: { readonly turn: Turn; readonly temporary: string },
): string {
  if (ensureDirectory(ports.files, paths.quarantine)) ports.files.syncDirectory(paths.root);
  const name = `${turnFileName(late.turn.turn)}.diverged-${late.turn.sum.slice(0, 16)}`;
  claimName(ports, late.temporary, { path: `${paths.quarantine}/${name}`, directory: paths.quarantine });
  return `quarantine/${name}`;
}

/**
 * Turns of this home, by their numbers.
 *
 * @module
 */
import type { Ports } from "../domain/ports.ts";
import type { Turn } from "../domain/turn.ts";
import { sessionDamaged, sessionTooNew } from "../store/fs_errors.ts";
import { insideSession, type SessionPaths, turnPath } from "../store/layout.ts";
import { readTurn } from "../store/read/turn.ts";

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

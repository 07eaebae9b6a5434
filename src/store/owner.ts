import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import type { Home } from "./home.ts";
import { requireSession } from "./history.ts";
import { sessionPaths } from "./layout.ts";
import { inspectLock, type LockOwner } from "./lock.ts";

/**
 * Who is writing to a session now, without changing anything. `owner` is `null` while a new holder has not given its
 * name yet.
 *
 * @throws {ReprError} `no_such_session`, `session_damaged`.
 */
export function sessionOwner(
  ports: Ports,
  home: Home,
  id: SessionId,
): Promise<{ readonly held: boolean; readonly owner: LockOwner | null }> {
  const paths = sessionPaths(home.sessions, id);
  requireSession(ports, paths);
  return inspectLock(ports, paths);
}

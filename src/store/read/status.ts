/**
 * Judges the state of a session for lists, by its manifest, the file of its newest turn and its lock. `fsck` looks at all
 * files.
 */
import type { Ports } from "../../domain/ports.ts";
import { checkSeal } from "../../domain/seal.ts";
import { storageError } from "../fs_errors.ts";
import { holdsTurns, type Home, type SessionSummary, sessionSummary } from "../home.ts";
import { insideSession, type SessionPaths, sessionPaths, turnPath } from "../layout.ts";
import { isLocked } from "../write/file_lock.ts";
import { readOnLoosely, rebuildLoosely } from "./manifest.ts";
import { BRIEF_BYTES, readSafely } from "./safe_open.ts";
import { MAX_TURN_BYTES, openEnvelope } from "./turn_file.ts";

/** A session with its state. */
export interface JudgedSession extends SessionSummary {
  /**
   * One of {@linkcode SESSION_STATES}: the state of the last run if that ended; `running` if it is open and a process
   * holds the lock, `killed` if none does; `damaged` if the manifest or the newest turn shows it; `unknown` if a later
   * version wrote the session.
   */
  readonly state: string;
}

/** Judges sessions, in their order. Bad sessions throw nothing. */
export function judgeSessions(
  ports: Ports,
  home: Home,
  sessions: readonly SessionSummary[],
): JudgedSession[] {
  return sessions.map((session) => judged(ports, home, session));
}

function judged(ports: Ports, home: Home, session: SessionSummary): JudgedSession {
  const paths = sessionPaths(home.sessions, session.id);
  try {
    const looked = lookAtHead(ports, paths, session);
    if ("state" in looked) return looked;
    const open = readOn(ports, paths, looked);
    if ("state" in open) return open;
    if (isLocked(ports, paths.lock)) return { ...open, state: "running" };
    // The run may have ended between the two looks.
    const again = readOn(ports, paths, sessionSummary(ports, home, session.id));
    return "state" in again ? again : { ...open, state: "killed" };
  } catch (error) {
    return { ...session, state: "damaged", problem: storageError(error, "read it", paths.root).message };
  }
}

/** Reads the turns of an open run that its manifest lacks: it is not replaced in the middle of a run. */
function readOn(ports: Ports, paths: SessionPaths, session: SessionSummary): SessionSummary | JudgedSession {
  const { manifest: known } = session;
  if (known === null) return session;
  if (known.state !== "open") return { ...session, state: known.state };
  const { bytes: _bytes, ...open } = known;
  const { manifest, damaged } = readOnLoosely(ports, paths, open);
  if (damaged !== null) {
    const problem = `${insideSession(paths, turnPath(paths, damaged.turn))} ${damaged.message}`;
    return { ...session, manifest, state: "damaged", problem };
  }
  const read = { ...session, manifest };
  return manifest === null || manifest.state === "open" ? read : { ...read, state: manifest.state };
}

/** Looks at the newest turn of the manifest. A session without a turn whose creation was cut short is not damaged. */
function lookAtHead(
  ports: Ports,
  paths: SessionPaths,
  session: SessionSummary,
): SessionSummary | JudgedSession {
  const { manifest, source } = session;
  if (manifest === null) {
    if (source === "newer") return { ...session, state: "unknown" };
    if (source === "missing" && !holdsTurns(ports, paths)) {
      return { ...session, problem: "holds no turn yet" };
    }
    return { ...session, state: "damaged" };
  }
  if (source !== "ok") return session;
  const path = turnPath(paths, manifest.head.turn);
  const damaged = (message: string): JudgedSession => ({
    ...session,
    state: "damaged",
    problem: `${insideSession(paths, path)} ${message}`,
  });
  const read = readSafely(ports, path, { maxBytes: MAX_TURN_BYTES, into: BRIEF_BYTES });
  if (read.status === "missing") return damaged("is missing, but the manifest names it as the newest turn");
  if (read.status === "refused") return damaged(read.message);
  const sum = checkSeal(read.bytes);
  if (sum === manifest.head.sum) return session;
  if (sum !== null) return { ...session, manifest: rebuildLoosely(ports, paths) ?? manifest };
  const opened = openEnvelope(read.bytes);
  return damaged(opened.status === "damaged" ? opened.message : "does not fit its checksum");
}

/** Lists the sessions of a home, judges their states, and finds one. */
import { RepriseError } from "../domain/errors.ts";
import { parseSessionId, type SessionId } from "../domain/ids.ts";
import type { Manifest } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import { checkSeal } from "../domain/seal.ts";
import { counted } from "../domain/text.ts";
import { orStorageError, storageError } from "./fs_errors.ts";
import { type Home, sessionNames } from "./home.ts";
import { insideSession, type SessionPaths, sessionPaths, turnNumbers, turnPath } from "./layout.ts";
import { readManifest, readOnLoosely, rebuildLoosely } from "./read/manifest.ts";
import { lookForDirectory } from "./read/safe_open.ts";
import { openEnvelope, peekTurnFile } from "./read/turn_file.ts";
import { isLocked } from "./write/file_lock.ts";

/** A session as `ls` shows it. */
export interface SessionSummary {
  readonly id: SessionId;
  readonly path: string;
  /** From the manifest, or rebuilt from the turns if that is unusable; `null` if both are. */
  readonly manifest: Manifest | null;
  /** The manifest file; `unreadable` also if the session's directory is not ours or was removed. */
  readonly source: "ok" | "missing" | "garbled" | "newer" | "unreadable";
  /** Describes the damage of the manifest or of the session. */
  readonly problem?: string;
}

/**
 * All sessions of a home, newest `updated_at` first, from their manifests alone. A manifest that is missing,
 * damaged or newer is made from the turns in memory; no bad session makes it throw.
 *
 * @throws {RepriseError} `storage_*` when the home itself cannot be listed.
 */
export function listSessions(ports: Ports, home: Home): SessionSummary[] {
  const summaries = sessionNames(ports, home).map((id) => sessionSummary(ports, home, id));
  return summaries.sort((a, b) => {
    const [usedA, usedB] = [a.manifest?.updated_at ?? "", b.manifest?.updated_at ?? ""];
    return usedA === usedB ? compare(a.id, b.id) : compare(usedB, usedA);
  });
}

/** One session as {@linkcode listSessions} has it. */
function sessionSummary(ports: Ports, home: Home, id: SessionId): SessionSummary {
  const paths = sessionPaths(home.sessions, id);
  const path = paths.root;
  try {
    const directory = lookForDirectory(ports, path);
    if (directory.status !== "ok") {
      const problem = directory.status === "missing"
        ? "was removed meanwhile"
        : `its directory ${directory.message}`;
      return { id, path, manifest: null, source: "unreadable", problem };
    }
    const file = readManifest(ports, paths);
    if (file.status === "ok") return { id, path, manifest: file.manifest, source: "ok" };
    const problem = `manifest.json ${file.status === "missing" ? "is missing" : file.message}`;
    if (file.status === "refused") return { id, path, manifest: null, source: "unreadable", problem };
    return { id, path, manifest: rebuildLoosely(ports, paths), source: file.status, problem };
  } catch (error) {
    const problem = storageError(error, "read it", path).message;
    return { id, path, manifest: null, source: "unreadable", problem };
  }
}

export interface JudgedSession extends SessionSummary {
  /**
   * One of {@linkcode SESSION_STATES}: the state of the last run if that ended; `running` if it is open and a process
   * holds the lock, `killed` if none does; `damaged` if the manifest or the newest turn shows it; `unknown` if a later
   * version wrote the session.
   */
  readonly state: string;
}

/**
 * Judges the state of a session by its manifest, the file of its newest turn and its lock; `fsck` looks at all files. A
 * bad session is judged as damaged.
 */
export function judgeSession(ports: Ports, home: Home, session: SessionSummary): JudgedSession {
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
  const read = peekTurnFile(ports, path);
  if (read.status === "missing") return damaged("is missing, but the manifest names it as the newest turn");
  if (read.status === "refused") return damaged(read.message);
  const sum = checkSeal(read.bytes);
  if (sum === manifest.head.sum) return session;
  if (sum !== null) return { ...session, manifest: rebuildLoosely(ports, paths) ?? manifest };
  const opened = openEnvelope(read.bytes);
  return damaged(opened.status === "damaged" ? opened.message : "does not fit its checksum");
}

/** True if a session has a turn file, or a `turns/` that cannot be looked into. Throws the runtime's errors. */
function holdsTurns(ports: Ports, { turns }: SessionPaths): boolean {
  const looked = lookForDirectory(ports, turns);
  if (looked.status !== "ok") return looked.status === "refused";
  return turnNumbers(ports.files.list(turns)).length > 0;
}

/** Number of candidates that a message names. */
const CANDIDATES = 5;

/** The workspace of a call: the pin, not the directory as typed. */
export interface WorkspaceChoice {
  readonly workspace: string;
  /** Directories above it that replace it if it has no session, nearest first. */
  readonly parents?: readonly string[];
}

/**
 * The session that a user means: an exact id, an unambiguous prefix, `@last`, the latest of the workspace, or
 * `@last:any`, the latest of all.
 *
 * @throws {RepriseError} `no_such_session`, `ambiguous_session`, `bad_session_id`, `storage_*`.
 */
export function resolveSession(
  ports: Ports,
  home: Home,
  options: WorkspaceChoice & { readonly selector: string },
): SessionId {
  const { selector } = options;
  if (selector === "@last") return lastSession(ports, home, options);
  if (selector === "@last:any") return lastSession(ports, home, null);
  const id = parseSessionId(selector);
  const { root } = sessionPaths(home.sessions, id);
  if (orStorageError(`open session "${id}"`, root, () => ports.files.facts(root)) !== null) return id;
  const names = sessionNames(ports, home);
  const fitting = names.filter((name) => name.startsWith(id));
  if (fitting.length === 1) return fitting[0] as SessionId;
  if (fitting.length > 1) {
    throw new RepriseError(
      "ambiguous_session",
      `Cannot choose a session by "${id}": ${fitting.length} ids start with it: ${quoted(fitting)}`,
      { hint: "Give more of the id", details: { candidates: fitting.slice(0, CANDIDATES) } },
    );
  }
  const near = names.filter((name) => name.includes(id) || id.includes(name));
  throw new RepriseError(
    "no_such_session",
    `Cannot find session "${id}": none of ${
      counted(names.length, "session")
    } in "${home.sessions}" has or starts with that id`,
    {
      hint: near.length > 0 ? `Did you mean ${quoted(near)}?` : 'List the sessions with "reprise ls"',
      details: { candidates: near.slice(0, CANDIDATES) },
    },
  );
}

/**
 * The newest session of the nearest workspace that has one, or of all for `null`. If a manifest is unusable, its
 * directory shows when the session was used, in any workspace if damage hides which. So a damaged session is chosen too,
 * and opening it reports the damage: the user did not mean an older session.
 */
function lastSession(ports: Ports, home: Home, choice: WorkspaceChoice | null): SessionId {
  const all = listSessions(ports, home).flatMap(({ id, manifest, source, problem }) => {
    const paths = sessionPaths(home.sessions, id);
    const isEmpty = () => orStorageError("look at", paths.turns, () => !holdsTurns(ports, paths));
    if (source === "missing" && isEmpty()) return [];
    const workspace = manifest?.pins.workspace ?? null;
    return [{
      id,
      workspace,
      at: problem === undefined ? manifest?.updated_at ?? "" : lastUse(ports, paths),
    }];
  });
  const known = new Set(all.map(({ workspace }) => workspace));
  const workspace = choice === null
    ? null
    : [choice.workspace, ...choice.parents ?? []].find((path) => known.has(path)) ?? choice.workspace;
  const used = all.filter((sign) =>
    workspace === null || sign.workspace === null || sign.workspace === workspace
  );
  const [last] = used.sort((a, b) => compare(b.at, a.at));
  if (last !== undefined) return last.id;
  const [what, found, hint] = workspace === null
    ? ["the last session", `there is none in "${home.sessions}"`, 'Start one with "reprise run PROMPT"']
    : [
      `the last session of workspace "${workspace}"`,
      `no session in "${home.sessions}" was run there${choice?.parents?.length ? " or above" : ""}`,
      'List all sessions with "reprise ls"; "@last:any" is the latest of them',
    ];
  throw new RepriseError("no_such_session", `Cannot find ${what}: ${found}`, { hint });
}

function quoted(ids: readonly SessionId[]): string {
  const shown = ids.slice(0, CANDIDATES).map((id) => `"${id}"`).join(", ");
  return ids.length > CANDIDATES ? `${shown}, …` : shown;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The time at which a session whose manifest is unusable got its last turn, as ISO 8601 UTC. */
function lastUse({ files }: Ports, { root, turns }: SessionPaths): string {
  const modified = (path: string) => {
    try {
      return files.facts(path)?.modified ?? null;
    } catch {
      // Opening the session reports the disk's error.
      return null;
    }
  };
  return new Date(modified(turns) ?? modified(root) ?? 0).toISOString();
}

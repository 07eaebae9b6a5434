/** Opens the directory that holds all sessions, lists them and finds one. */
import { RepriseError } from "../domain/errors.ts";
import { isSessionId, parseSessionId, type SessionId } from "../domain/ids.ts";
import type { Manifest } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import { counted, withoutSlash } from "../domain/text.ts";
import { orStorageError, storageError, systemCode } from "./fs_errors.ts";
import { isHiddenName, type SessionPaths, sessionPaths, turnNumbers } from "./layout.ts";
import { readManifest, rebuildLoosely } from "./read/manifest.ts";
import { lookForDirectory } from "./read/safe_open.ts";
import { ensureDirectory } from "./write/publish.ts";

/** A checked home directory. */
export interface Home {
  readonly path: string;
  /** The directory with one directory for each session; it may not exist yet. */
  readonly sessions: string;
}

/**
 * Checks a home directory; with `create`, creates its missing parts (0700).
 *
 * @throws {RepriseError} `storage_denied` for a symbolic link, another owner or no permission; `storage_failed` for
 * anything that is not a directory.
 */
export function openHome(ports: Ports, path: string, options: { readonly create?: boolean } = {}): Home {
  const root = withoutSlash(path);
  const home: Home = { path: root, sessions: `${root}/sessions` };
  for (const directory of [home.path, home.sessions]) {
    const looked = orStorageError("open the home", directory, () => lookForDirectory(ports, directory));
    if (looked.status === "refused") {
      const code = looked.code === "not_a_directory" ? "storage_failed" : "storage_denied";
      throw new RepriseError(code, `Cannot open the home: "${directory}" ${looked.message}`, {
        hint: "Choose another directory with --home or REPRISE_HOME",
        details: { path: directory, finding: looked.code },
      });
    }
    if (looked.status === "missing") {
      if (options.create !== true) break;
      orStorageError("create the home", directory, () => makeWithParents(ports, directory));
    }
  }
  return home;
}

/** Creates a directory and each missing parent, and makes each new name durable. */
function makeWithParents(ports: Ports, path: string): void {
  const parent = parentOf(path);
  if (parent !== path && ports.files.facts(parent) === null) makeWithParents(ports, parent);
  ensureDirectory(ports.files, path);
  syncForeignDirectory(ports, parent);
}

/** Syncs the directory that holds the home, if possible: an unreadable directory cannot be opened for an fsync. */
export function syncForeignDirectory(ports: Ports, path: string): void {
  try {
    ports.files.syncDirectory(path);
  } catch (error) {
    if (systemCode(error) !== "EACCES") throw error;
  }
}

/** The directory that holds `path`. */
export function parentOf(path: string): string {
  const cut = path.lastIndexOf("/");
  if (cut < 0) return ".";
  return cut === 0 ? "/" : path.slice(0, cut);
}

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
    const [left, right] = [a.manifest?.updated_at ?? "", b.manifest?.updated_at ?? ""];
    return left === right ? compare(a.id, b.id) : compare(right, left);
  });
}

/**
 * The ids of all sessions of a home, in order.
 *
 * @throws {RepriseError} `storage_*` when the home cannot be listed.
 */
export function sessionNames(ports: Ports, home: Home): SessionId[] {
  return namesIn(ports, home).filter(isSessionId);
}

function namesIn(ports: Ports, home: Home): string[] {
  return orStorageError("list the sessions", home.sessions, () => {
    return ports.files.facts(home.sessions) === null ? [] : ports.files.list(home.sessions).sort();
  });
}

/**
 * The names among the sessions of a home that are neither ids nor leftovers of ours, such as the copies that a program
 * for synchronization makes of a folder.
 *
 * @throws {RepriseError} `storage_*` when the home cannot be listed.
 */
export function strayNames(ports: Ports, home: Home): {
  readonly name: string;
  /** Finding, to be read after the name. */
  readonly message: string;
}[] {
  return namesIn(ports, home).filter((name) => !isSessionId(name) && !isHiddenName(name)).map((name) => {
    const hasTurns = orStorageError("look at", `${home.sessions}/${name}`, () => {
      return lookForDirectory(ports, `${home.sessions}/${name}`).status === "ok" &&
        ports.files.facts(`${home.sessions}/${name}/turns`) !== null;
    });
    return {
      name,
      message: hasTurns
        ? "is a copy of a session under a name that is no id: no verb reads it"
        : "is not the name of a session",
    };
  });
}

/** One session as {@linkcode listSessions} has it. */
export function sessionSummary(ports: Ports, home: Home, id: SessionId): SessionSummary {
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
    const isBegun = () => orStorageError("look at", paths.turns, () => !holdsTurns(ports, paths));
    if (source === "missing" && isBegun()) return [];
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

/** True if a session has a turn file, or a `turns/` that cannot be looked into. Throws the runtime's errors. */
export function holdsTurns(ports: Ports, { turns }: SessionPaths): boolean {
  const looked = lookForDirectory(ports, turns);
  if (looked.status !== "ok") return looked.status === "refused";
  return turnNumbers(ports, turns).length > 0;
}

/** The directory that holds all sessions: opens it, and lists the names in it. */
import { RepriseError } from "../domain/errors.ts";
import { isSessionId, type SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { withoutSlash } from "../domain/text.ts";
import { orStorageError, systemCode } from "./fs_errors.ts";
import { isHiddenName, parentOf } from "./layout.ts";
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

/**
 * The ids of all sessions of a home, in order.
 *
 * @throws {RepriseError} `storage_*` when the home cannot be listed.
 */
export function sessionNames(ports: Ports, home: Home): SessionId[] {
  return namesInHome(ports, home).filter(isSessionId);
}

/** All names among the sessions of a home, in order. Throws as {@linkcode sessionNames} does. */
export function namesInHome(ports: Ports, home: Home): string[] {
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
  return namesInHome(ports, home).filter((name) => !isSessionId(name) && !isHiddenName(name)).map((name) => {
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

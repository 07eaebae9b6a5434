/**
 * Reads a session for people: every turn that fits its checksum, of any version and content, and a list of the other files.
 * Loads no schema, so nothing that is read here may become part of a request.
 */
import type { ShowProblem } from "../../schemas/parts.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isJsonObject, type JsonObject, stringMember } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { turnFileName } from "../../domain/turn.ts";
import { noSuchSession, orStorageError } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { type SessionPaths, sessionPaths, turnNumbers, turnPath } from "../layout.ts";
import { readManifest, rebuildLoosely } from "./manifest.ts";
import { hasDirectory } from "./safe_open.ts";
import { readEnvelope } from "./turn_file.ts";

/** A turn as read from its file, verbatim and unchecked. */
export interface ShownTurn {
  /** From the file's name. */
  readonly number: number;
  readonly value: JsonObject;
  /** The turn's kind, or `""` if the file names none. */
  readonly kind: string;
  /** Events that are objects with a string `type`, verbatim. */
  readonly events: readonly (JsonObject & { readonly type: string })[];
  /** True if the file names a later turn format than this version writes. */
  readonly newer: boolean;
}

export interface ShownSession {
  readonly id: SessionId;
  readonly path: string;
  /** From the manifest, or made from the turns; `null` if neither is usable. */
  readonly manifest: Manifest | null;
  readonly turns: readonly ShownTurn[];
  /** Empty for a sound session. Numbering gaps are named too. */
  readonly problems: readonly ShowProblem[];
}

/**
 * Reads the readable turns of a session.
 *
 * @throws {RepriseError} `no_such_session`; `session_damaged` if its directories are not ours; `storage_*`.
 */
export function readForShow(ports: Ports, home: Home, id: SessionId): ShownSession {
  const paths = sessionPaths(home.sessions, id);
  return orStorageError(`read session "${id}"`, paths.root, () => {
    for (const directory of [paths.root, paths.turns]) {
      if (hasDirectory(ports, paths, directory)) continue;
      throw noSuchSession(id, { tried: `show session "${id}"`, found: `nothing at "${directory}"` });
    }
    const { turns, problems } = readTurns(ports, paths);
    const file = readManifest(ports, paths);
    const manifest = file.status === "ok" ? file.manifest : rebuildLoosely(ports, paths);
    return { id, path: paths.root, manifest, turns, problems };
  });
}

function readTurns(ports: Ports, paths: SessionPaths): { turns: ShownTurn[]; problems: ShowProblem[] } {
  const turns: ShownTurn[] = [];
  const problems: ShowProblem[] = [];
  let expected = 1;
  for (const number of turnNumbers(ports.files.list(paths.turns))) {
    const path = `turns/${turnFileName(number)}`;
    if (number > expected) {
      const missing = number - expected === 1
        ? `turn ${expected} is`
        : `turns ${expected} to ${number - 1} are`;
      problems.push({ path, message: `${missing} missing before it` });
    }
    expected = number + 1;
    const file = readEnvelope(ports, turnPath(paths, number));
    if (file.status === "ok") turns.push(shownTurn(number, file.value, file.newer));
    else problems.push({ path, message: file.status === "missing" ? "was removed meanwhile" : file.message });
  }
  return { turns, problems };
}

export function shownTurn(number: number, value: JsonObject, newer: boolean): ShownTurn {
  const events = Array.isArray(value.events) ? value.events.filter(isEvent) : [];
  return { number, value, kind: stringMember(value, "kind") ?? "", events, newer };
}

function isEvent(value: unknown): value is JsonObject & { readonly type: string } {
  return isJsonObject(value) && typeof value.type === "string";
}

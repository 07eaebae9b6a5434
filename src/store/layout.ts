/**
 * Paths, names and sizes of the files in a home. Only parsed session ids and our own names become path segments.
 */
import type { SessionId } from "../domain/ids.ts";
import type { ByteTotals } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import { turnFileName } from "../domain/turn.ts";

/** Mode of every directory of ours, whatever the umask. */
export const DIRECTORY_MODE = 0o700;
/** Mode of every file of ours, whatever the umask. */
export const FILE_MODE = 0o600;

/** The paths of one session's directory. */
export interface SessionPaths {
  readonly id: SessionId;
  readonly root: string;
  readonly manifest: string;
  readonly turns: string;
  readonly blobs: string;
  readonly quarantine: string;
  /** Turns that wait for a remote; only sessions with one have it. */
  readonly pending: string;
  readonly lock: string;
}

/** The paths of session `id` below `sessions`, the directory that holds all of them. */
export function sessionPaths(sessions: string, id: SessionId): SessionPaths {
  return pathsAt(`${sessions}/${id}`, id);
}

/** The paths of session `id` while its directory has another name, `root`. */
export function pathsAt(root: string, id: SessionId): SessionPaths {
  return {
    id,
    root,
    manifest: `${root}/manifest.json`,
    turns: `${root}/turns`,
    blobs: `${root}/blobs`,
    quarantine: `${root}/quarantine`,
    pending: `${root}/pending`,
    lock: `${root}/lock`,
  };
}

/** The path of turn file `turn`. */
export function turnPath(paths: SessionPaths, turn: number): string {
  return `${paths.turns}/${turnFileName(turn)}`;
}

/** The directory that holds `path`. */
export function parentOf(path: string): string {
  const cut = path.lastIndexOf("/");
  if (cut < 0) return ".";
  return cut === 0 ? "/" : path.slice(0, cut);
}

/** A path inside a session as people read it, such as `turns/000003.json`. */
export function insideSession(paths: SessionPaths, path: string): string {
  return path.startsWith(`${paths.root}/`) ? path.slice(paths.root.length + 1) : path;
}

/** The number in a turn file's name, or `null` if it is not one that we write (`0000003.json` is not). */
export function turnNumberOf(name: string): number | null {
  const match = /^(\d{6,15})\.json$/.exec(name);
  if (match === null) return null;
  const turn = Number(match[1]);
  return turn >= 1 && turnFileName(turn) === name ? turn : null;
}

/** The numbers of the turn files among the names in a directory, ascending. */
export function turnNumbers(names: readonly string[]): number[] {
  return names.flatMap((name) => turnNumberOf(name) ?? []).sort((a, b) => a - b);
}

/** True for names of temporary files of ours: `.tmp-<pid>-<hex>`. */
export function isTemporaryName(name: string): boolean {
  return /^\.tmp-\d{1,10}-[0-9a-f]{1,16}$/.test(name);
}

/** True for hidden names beside the sessions: directories that a killed process created or removed only in part. */
export function isHiddenName(name: string): boolean {
  return /^\.(?:new|removed)-\d{1,10}-[0-9a-f]{1,16}$/.test(name);
}

/** True for names of blobs: 64 lower-case hex digits. */
export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Bytes of all turn files and of all blobs, by one look at each. Throws the runtime's errors. */
export function measureBytes(ports: Ports, paths: SessionPaths): ByteTotals {
  return {
    turns: sizeOf(ports, paths.turns, (name) => turnNumberOf(name) !== null),
    blobs: measureBlobs(ports, paths),
  };
}

/** Bytes of all blobs. Throws the runtime's errors. */
export function measureBlobs(ports: Ports, paths: SessionPaths): number {
  return sizeOf(ports, paths.blobs, isBlobName);
}

function sizeOf({ files }: Ports, directory: string, counts: (name: string) => boolean): number {
  // A link to a directory is not followed.
  if (files.facts(directory)?.kind !== "directory") return 0;
  let bytes = 0;
  for (const name of files.list(directory)) {
    if (counts(name)) bytes += files.facts(`${directory}/${name}`)?.size ?? 0;
  }
  return bytes;
}

import type { Ports } from "../../domain/ports.ts";
import { MAX_BLOB_BYTES } from "../blobs.ts";
import { damaged } from "../damage.ts";
import { orStorageError } from "../fs_errors.ts";
import { isBlobName, sessionPaths, turnNumberOf } from "../layout.ts";
import type { SessionWriter } from "../write/writer.ts";
import { readTrusted } from "../read/safe_open.ts";

/** A file of a session: its path inside the session's directory, such as `turns/000001.json`. */
export interface SessionFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * The files of a session as they are now: manifest, turns, blobs. Turns and blobs never change, so that their content
 * can be read later, one file at a time, whatever was added meanwhile. The writer must be open until then.
 *
 * @throws {RepriseError} `session_damaged` for anything but files of ours; `storage_*`. Reading on throws the same.
 */
export function snapshotSession(ports: Ports, { id, path }: SessionWriter): Iterable<SessionFile> {
  const paths = sessionPaths(path.slice(0, path.lastIndexOf("/")), id);
  const tried = `copy session "${id}"`;
  const read = (name: string): SessionFile[] => {
    const full = `${paths.root}/${name}`;
    const file = orStorageError(tried, full, () => readTrusted(ports, full, { maxBytes: MAX_BLOB_BYTES }));
    if (file.status === "refused") throw damaged(paths, full, file);
    return file.status === "missing" ? [] : [{ path: name, bytes: file.bytes }];
  };
  const names = (directory: string, isOurs: (name: string) => boolean) =>
    orStorageError(
      tried,
      directory,
      () => ports.files.facts(directory) === null ? [] : ports.files.list(directory),
    ).filter(isOurs).sort();
  const manifest = read("manifest.json");
  const rest = [
    ...names(paths.turns, (name) => turnNumberOf(name) !== null).map((name) => `turns/${name}`),
    ...names(paths.blobs, isBlobName).map((name) => `blobs/${name}`),
  ];
  return {
    *[Symbol.iterator]() {
      yield* manifest;
      for (const name of rest) yield* read(name);
    },
  };
}

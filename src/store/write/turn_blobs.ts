/** The blobs that a new turn names. */
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobPath, blobsOf, lostBlobsIn } from "../blobs.ts";
import { orStorageError } from "../fs_errors.ts";
import type { SessionPaths } from "../layout.ts";
import { lookForFile } from "../read/safe_open.ts";
import { readBlobOrLost, readHistory } from "../read/session.ts";
import type { NamedBlob } from "./turn_remote.ts";

/** The blobs of a turn, each once. */
export function namedBlobs(ports: Ports, paths: SessionPaths, turn: Turn): NamedBlob[] {
  const names = new Set(blobsOf(turn).map(({ sha256 }) => sha256));
  return [...names].map((sha256) => ({ sha256, read: () => readBlobOrLost(ports, paths, sha256) }));
}

/**
 * Requires each blob that the next request depends on. Adds those that it found to `known`.
 *
 * @throws {TypeError} if one is missing and no turn records it as lost; {@linkcode RepriseError} `storage_*`.
 */
export function requireBlobs(
  ports: Ports,
  paths: SessionPaths,
  { turn, known, tried }: { readonly turn: Turn; readonly known: Set<string>; readonly tried: string },
): void {
  for (const { sha256, needed, by } of blobsOf(turn)) {
    if (!needed || known.has(sha256)) continue;
    const path = blobPath(paths, sha256);
    const looked = orStorageError(tried, path, () => lookForFile(ports, path));
    // A checkpoint copies the pins of a run, which may name blobs that are known to be lost.
    if (looked.status !== "ok" && !lostBlobsIn(readHistory(ports, paths).turns).has(sha256)) {
      throw new TypeError(`Cannot ${tried}: ${by} names the blob ${sha256}, which is not there`);
    }
    known.add(sha256);
  }
}

/** Measures the files of a session that its manifest counts. */
import type { ByteTotals } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import { blobPath } from "./blobs.ts";
import { isBlobName, type SessionPaths, turnNumberOf } from "./layout.ts";

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

/**
 * True if a manifest counts the blobs that its turns name: all of them, but for some that a killed writer left before a
 * turn named them. Unknown, and so true, while one is missing that no turn records as lost. Throws the runtime's errors.
 */
export function countsBlobs(
  ports: Ports,
  paths: SessionPaths,
  { blobs }: ByteTotals,
  { named, lost }: { readonly named: Iterable<string>; readonly lost: ReadonlySet<string> },
): boolean {
  let least = 0;
  for (const sha256 of named) {
    const facts = ports.files.facts(blobPath(paths, sha256));
    if (facts === null && !lost.has(sha256)) return true;
    least += facts?.size ?? 0;
  }
  return least <= blobs && blobs <= measureBlobs(ports, paths);
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

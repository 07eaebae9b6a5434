/** Blobs: large contents that turns name by their sha256. */
import type { RepriseError } from "../domain/errors.ts";
import { GrowingSha256, sha256Hex } from "../domain/hash.ts";
import { isJsonObject, stringMember } from "../domain/json.ts";
import type { ByteTotals } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import { counted } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";
import { chunksOf, lookForFile, readSafely } from "./read/safe_open.ts";
import { isTaken, sessionDamaged } from "./fs_errors.ts";
import { isBlobName, measureBlobs, type SessionPaths } from "./layout.ts";
import { orSyncFailed, writeNew } from "./write/publish.ts";

/** The largest blob that is read or written, in bytes. */
export const MAX_BLOB_BYTES = 1024 * 1024 * 1024;

/** A blob that a turn names. */
export interface BlobUse {
  readonly sha256: string;
  /** Its length, if the turn names it. */
  readonly bytes?: number;
  /** The member of the turn that names it. */
  readonly by: string;
  /** True if the next request or a text for the model depends on it; false for records about old requests. */
  readonly needed: boolean;
}

/** Every blob that a turn names. */
export function blobsOf(turn: Turn): BlobUse[] {
  const uses: BlobUse[] = [];
  if ("pins" in turn && turn.pins !== undefined) {
    uses.push({ sha256: turn.pins.instructions, by: "pins.instructions", needed: true });
    uses.push({ sha256: turn.pins.tools, by: "pins.tools", needed: true });
  }
  if (turn.kind === "model") {
    for (const [name, value] of Object.entries(turn.request.fields)) {
      const sha256 = isJsonObject(value) ? stringMember(value, "blob") : undefined;
      if (sha256 !== undefined && isBlobName(sha256)) {
        uses.push({ sha256, by: `request.fields.${name}`, needed: false });
      }
    }
  }
  for (const event of turn.events) {
    const blob = event.type === "tool_result" || event.type === "attachment" ? event.blob : undefined;
    if (blob === undefined) continue;
    const { sha256, bytes } = blob;
    const what = event.type === "attachment" ? "attachment" : "result";
    uses.push({ sha256, bytes, by: `the ${what} with seq ${event.seq}`, needed: true });
  }
  return uses;
}

export interface UsedBlob {
  /** The first turn that names it, and the member with the name. */
  readonly turn: number;
  readonly by: string;
  readonly needed: boolean;
  /** Lengths that turns give. */
  readonly sizes: ReadonlySet<number>;
}

/** Adds the blobs that a turn names, by their names. */
export function addUsedBlobs(named: Map<string, UsedBlob>, turn: Turn): void {
  for (const { sha256, by, needed, bytes } of blobsOf(turn)) {
    const before = named.get(sha256) ?? { turn: turn.turn, by, needed: false, sizes: new Set<number>() };
    const sizes = bytes === undefined ? before.sizes : new Set([...before.sizes, bytes]);
    named.set(sha256, { ...before, needed: before.needed || needed, sizes });
  }
}

/** The blobs that turns name. */
export function usedBlobs(turns: readonly Turn[]): Map<string, UsedBlob> {
  const named = new Map<string, UsedBlob>();
  for (const turn of turns) addUsedBlobs(named, turn);
  return named;
}

/** Blobs that `turns` record as lost: no reader needs them. */
export function lostBlobsIn(turns: readonly Turn[]): Set<string> {
  const lost = new Set<string>();
  for (const { events } of turns) {
    for (const event of events) if (event.type === "blob_lost") lost.add(event.sha256);
  }
  return lost;
}

/**
 * Finds the blobs that `turns` name and that exist, each once. Throws the runtime's errors.
 *
 * @throws {RepriseError} `session_damaged` for a file that is not ours, and for a needed blob that is missing and not
 * in `lost`.
 */
export function* existingBlobs(
  ports: Ports,
  paths: SessionPaths,
  { turns, lost }: { readonly turns: readonly Turn[]; readonly lost: ReadonlySet<string> },
): Generator<{ readonly sha256: string; readonly needed: boolean }> {
  for (const [sha256, { needed }] of usedBlobs(turns)) {
    const path = blobPath(paths, sha256);
    const looked = lookForFile(ports, path);
    if (looked.status === "refused") throw sessionDamaged(paths, path, looked);
    if (looked.status === "ok") yield { sha256, needed };
    else if (needed && !lost.has(sha256)) {
      throw sessionDamaged(paths, path, { code: "missing_blob", message: "is missing" });
    }
  }
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

/** The path of a blob. `sha256` comes from files, so it is checked before it becomes a path segment. */
export function blobPath(paths: SessionPaths, sha256: string): string {
  if (!isBlobName(sha256)) throw new TypeError(`Not a sha256: ${JSON.stringify(sha256)}`);
  return `${paths.blobs}/${sha256}`;
}

/** Damage of a blob. */
interface BadBlob {
  readonly status: "bad";
  readonly code: "missing_blob" | "damaged_blob";
  readonly message: string;
}

/** Damage of a blob without a file. */
export const MISSING_BLOB: BadBlob = { status: "bad", code: "missing_blob", message: "is missing" };
const FOREIGN = damagedBlob("does not have the content that its name identifies");

function damagedBlob(message: string): BadBlob {
  return { status: "bad", code: "damaged_blob", message };
}

/** `session_damaged` for a blob whose content does not fit its name. */
export function foreignContent(paths: SessionPaths, path: string): RepriseError {
  return sessionDamaged(paths, path, FOREIGN);
}

/** Returns the damage of a blob or its length; the blob is never whole in memory. Throws the runtime's errors. */
export function inspectBlob(
  ports: Ports,
  paths: SessionPaths,
  sha256: string,
): { readonly status: "ok"; readonly size: number } | BadBlob {
  const path = blobPath(paths, sha256);
  const looked = lookForFile(ports, path);
  if (looked.status === "missing") return MISSING_BLOB;
  if (looked.status === "refused") return damagedBlob(looked.message);
  const { size } = looked.facts;
  if (size > MAX_BLOB_BYTES) return damagedBlob(`has ${size} bytes, more than the cap of ${MAX_BLOB_BYTES}`);
  const hash = new GrowingSha256();
  for (const chunk of chunksOf(ports, path)) hash.append(chunk);
  return hash.hex() === sha256 ? { status: "ok", size } : FOREIGN;
}

/** Returns the bytes of a blob or its damage. Throws the runtime's errors. */
export function loadBlob(
  ports: Ports,
  paths: SessionPaths,
  sha256: string,
): { readonly status: "ok"; readonly bytes: Uint8Array } | BadBlob {
  const read = readSafely(ports, blobPath(paths, sha256), { maxBytes: MAX_BLOB_BYTES });
  if (read.status === "missing") return MISSING_BLOB;
  if (read.status === "refused") return damagedBlob(read.message);
  return sha256Hex(read.bytes) === sha256 ? read : FOREIGN;
}

/**
 * Writes a content to `blobs/`, durably. An existing blob is kept: then returns false. `check` is that of
 * {@linkcode writeNew}.
 *
 * @throws {RepriseError} `session_damaged` if the existing file cannot have that content; the runtime's errors.
 */
export function publishBlob(
  ports: Ports,
  paths: SessionPaths,
  blob: { readonly sha256: string; readonly bytes: Uint8Array; readonly check?: () => void },
): boolean {
  const path = blobPath(paths, blob.sha256);
  const size = blob.bytes.length;
  if (!isThere(ports, paths, { path, size })) {
    try {
      writeNew(ports, paths, { path, bytes: blob.bytes, check: blob.check });
      return true;
    } catch (error) {
      if (!isTaken(error) || !isThere(ports, paths, { path, size })) throw error;
    }
  }
  // A writer that was killed may have left the name without its fsync.
  orSyncFailed(() => ports.files.syncDirectory(paths.blobs));
  return false;
}

function isThere(
  ports: Ports,
  paths: SessionPaths,
  blob: { readonly path: string; readonly size: number },
): boolean {
  const looked = lookForFile(ports, blob.path);
  if (looked.status === "missing") return false;
  if (looked.status === "refused") throw sessionDamaged(paths, blob.path, looked);
  const { size } = looked.facts;
  if (size === blob.size) return true;
  throw sessionDamaged(paths, blob.path, {
    code: "damaged_blob",
    message: `has ${counted(size, "byte")}, but its content has ${blob.size}`,
  });
}

/**
 * Inspects a path before opening it: only regular files and directories of ours, never through a symbolic link, so that a
 * planted link, FIFO or device is refused instead of followed. Hard links are allowed.
 */
import type { FileFacts, Ports } from "../../domain/ports.ts";
import { sessionDamaged } from "../fs_errors.ts";
import { isTemporaryName, type SessionPaths } from "../layout.ts";

/** Reason why a path is not used. */
export interface Refused {
  readonly status: "refused";
  /** `symlink`, `not_a_file`, `not_a_directory`, `foreign_owner`, `too_large`. */
  readonly code: string;
  /** Finding, such as `is a symbolic link`. */
  readonly message: string;
}

/** Result of the inspection of a path: `ok` if it may be used. */
export type Looked =
  | { readonly status: "ok"; readonly facts: FileFacts }
  | Refused
  | { readonly status: "missing" };

/** Inspects a path that should be a regular file of ours. Throws the runtime's errors. */
export function lookForFile(ports: Ports, path: string): Looked {
  return look(ports, path, "file");
}

/** Inspects a path that should be a real directory of ours. Throws the runtime's errors. */
export function lookForDirectory(ports: Ports, path: string): Looked {
  return look(ports, path, "directory");
}

/**
 * True if there is a directory at `path`, which is in a session. Throws the runtime's errors.
 *
 * @throws {RepriseError} `session_damaged` if it is not ours.
 */
export function hasDirectory(ports: Ports, paths: SessionPaths, path: string): boolean {
  const looked = lookForDirectory(ports, path);
  if (looked.status === "refused") throw sessionDamaged(paths, path, looked);
  return looked.status === "ok";
}

/** Names in a directory; none if there is none, or if it is not ours. Throws the runtime's errors. */
export function namesIn(ports: Ports, directory: string): string[] {
  return lookForDirectory(ports, directory).status === "ok" ? ports.files.list(directory) : [];
}

/** True for a temporary file of ours. A directory with such a name is no leftover. */
export function isLeftover(ports: Ports, path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return isTemporaryName(name) && ports.files.facts(path)?.kind !== "directory";
}

function look(ports: Ports, path: string, wanted: "file" | "directory"): Looked {
  const facts = ports.files.facts(path);
  if (facts === null) return { status: "missing" };
  if (facts.kind === "symlink") return refused("symlink", "is a symbolic link, which is never followed");
  if (facts.kind !== wanted) {
    const kind = facts.kind === "other" ? "FIFO, socket or device" : facts.kind;
    return wanted === "file"
      ? refused("not_a_file", `is a ${kind}, not a regular file`)
      : refused("not_a_directory", `is a ${kind}, not a directory`);
  }
  const user = ports.process.user;
  if (user !== null && facts.owner !== null && facts.owner !== user) {
    return refused("foreign_owner", `belongs to user ${facts.owner}, not to user ${user}`);
  }
  return { status: "ok", facts };
}

/** The bytes of a file, or the reason why it was not read. */
export type SafeBytes =
  | { readonly status: "ok"; readonly bytes: Uint8Array }
  | Exclude<Looked, { status: "ok" }>;

/** Memory for the small file that was read last: most turns fit. */
export const BRIEF_BYTES = new Uint8Array(64 * 1024);

/** Inspects and reads a regular file of ours. Throws the runtime's errors. */
export function readSafely(ports: Ports, path: string, options: {
  readonly maxBytes: number;
  /** Result of an earlier inspection. */
  readonly looked?: Looked;
  /** Memory for a small file, whose bytes are then valid until it is used again: faster than memory of its own. */
  readonly into?: Uint8Array;
}): SafeBytes {
  const { maxBytes, looked = lookForFile(ports, path) } = options;
  if (looked.status !== "ok") return looked;
  if (looked.facts.size > maxBytes) {
    return refused("too_large", `has ${looked.facts.size} bytes, more than the cap of ${maxBytes}`);
  }
  const brief = options.into === undefined ? null : readInto(ports, path, options.into, looked.facts.size);
  return { status: "ok", bytes: brief ?? ports.files.read(path) };
}

/** Reads a file of `size` bytes with one call; `null` if it is too large for that, or has another size by now. */
function readInto(ports: Ports, path: string, into: Uint8Array, size: number): Uint8Array | null {
  if (size >= into.length) return null;
  const file = ports.files.openRead(path);
  try {
    // With room for more than `size`, a file that grew shows it.
    return file.read(into) === size ? into.subarray(0, size) : null;
  } finally {
    file.close();
  }
}

function refused(code: string, message: string): Refused {
  return { status: "refused", code, message };
}

/** Size of the part of a file that is in memory at a time, in bytes. */
export const CHUNK_BYTES = 256 * 1024;

/** The bytes of a file, at most {@linkcode CHUNK_BYTES} at a time. A chunk is valid until the next chunk is read. */
export function* chunksOf(ports: Ports, path: string): Generator<Uint8Array> {
  const file = ports.files.openRead(path);
  try {
    const buffer = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      const count = file.read(buffer);
      if (count === 0) return;
      yield buffer.subarray(0, count);
    }
  } finally {
    file.close();
  }
}

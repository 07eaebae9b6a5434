/**
 * Reads the manifest. It is a cache that may be torn, old or missing: then `ls` and `show` rebuild it from unchecked
 * turns, which is never enough for a request.
 */
import { decodeUtf8Exactly } from "../../domain/bytes.ts";
import { isJsonObject } from "../../domain/json.ts";
import { advanceManifest, type Manifest, MANIFEST_FORMAT } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { checkSeal } from "../../domain/seal.ts";
import {
  count,
  filledString,
  instant,
  literal,
  nullable,
  object,
  optional,
  ordinal,
  sha256,
  string,
} from "../../domain/shape.ts";
import type { Turn } from "../../domain/turn.ts";
import { type SessionPaths, turnPath } from "../layout.ts";
import { BRIEF_BYTES, readSafely, type Refused } from "./safe_open.ts";
import { type Envelope, formatVersion, readEnvelope } from "./turn_file.ts";
import { checkpointRef, pins, usage } from "./shared_shapes.ts";

/** The largest manifest that is read, in bytes; reprise writes about a thousand. */
const MAX_MANIFEST_BYTES = 1024 * 1024;

export type ManifestFile =
  | { readonly status: "ok"; readonly manifest: Manifest }
  | { readonly status: "missing" }
  /** Torn, edited, or of another session: rebuilt from the turns. */
  | { readonly status: "garbled"; readonly message: string }
  /** Of a later format: ignored and left alone. */
  | { readonly status: "newer"; readonly message: string }
  | Refused;

/** Reads a session's manifest: checksum, shape and session id. Throws the runtime's errors. */
export function readManifest(ports: Ports, paths: SessionPaths): ManifestFile {
  const read = readSafely(ports, paths.manifest, { maxBytes: MAX_MANIFEST_BYTES, into: BRIEF_BYTES });
  // A manifest that is too large is rebuilt, like any other unusable one.
  if (read.status === "refused" && read.code === "too_large") return garbled(read.message);
  return read.status === "ok" ? parseManifest(read.bytes, paths.id) : read;
}

function parseManifest(bytes: Uint8Array, id: SessionPaths["id"]): ManifestFile {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8Exactly(bytes));
  } catch {
    return garbled("is not JSON in UTF-8");
  }
  if (!isJsonObject(value)) return garbled("is not a JSON object");
  // Checked before the checksum: a later format may be sealed differently.
  const version = formatVersion(value, "reprise.manifest");
  if (version !== null && version > 1) {
    return {
      status: "newer",
      message: `has the format "reprise.manifest/${version}", newer than this version`,
    };
  }
  if (checkSeal(bytes) === null) return garbled("does not fit its checksum");
  if (!isManifest(value)) return garbled("does not have the shape of a manifest");
  if (value.session !== id) {
    return garbled(`belongs to session ${JSON.stringify(value.session)}, not to this one`);
  }
  // The checksum belongs to the file and not to the value: encoding adds a new one.
  const { sum: _sum, ...manifest } = value;
  return { status: "ok", manifest };
}

function garbled(message: string): ManifestFile {
  return { status: "garbled", message };
}

const SHAPE = object({
  format: literal(MANIFEST_FORMAT),
  session: filledString,
  family: filledString,
  parent: optional(filledString),
  title: string,
  created_at: instant,
  updated_at: instant,
  head: object({ turn: ordinal, seq: ordinal, sum: sha256 }),
  run: ordinal,
  state: filledString,
  pins,
  usage,
  checkpoint: nullable(checkpointRef),
  bytes: optional(object({ turns: count, blobs: count })),
});

/** True if `value` has the shape of a manifest of this version. */
function isManifest(value: unknown): value is Manifest {
  return SHAPE(value) === null;
}

/** Number of turns that are read for a session without a usable manifest: `ls` stays quick. */
const MAX_TURNS = 1000;

/** The manifest made from the first {@linkcode MAX_TURNS} turns, without `bytes`, or `null` if that fails. */
export function rebuildLoosely(ports: Ports, paths: SessionPaths): Manifest | null {
  return readOnLoosely(ports, paths, null).manifest;
}

/** Advances a manifest by at most {@linkcode MAX_TURNS} unchecked turns. Throws the runtime's errors. */
export function readOnLoosely(ports: Ports, paths: SessionPaths, from: Manifest | null): {
  /** Without `bytes` if there was such a turn. */
  readonly manifest: Manifest | null;
  /** The damaged turn that ended the reading; `null` if it ended otherwise. */
  readonly damaged: { readonly turn: number; readonly message: string } | null;
} {
  let manifest = from;
  for (let count = 1; count <= MAX_TURNS; count++) {
    const turn = (manifest?.head.turn ?? 0) + 1;
    const file = readEnvelope(ports, turnPath(paths, turn));
    if (file.status === "damaged") return { manifest, damaged: { turn, message: file.message } };
    if (file.status === "missing") break;
    const next = advanceLoosely(manifest, paths.id, file);
    // A turn that says it is another would be read again and again.
    if (next === null || next.head.turn !== turn) break;
    manifest = next;
  }
  return { manifest, damaged: null };
}

/** The manifest after one more turn, which was not checked; `null` if it cannot be made of such a turn. */
export function advanceLoosely(
  manifest: Manifest | null,
  session: string,
  { value, newer }: Pick<Envelope, "value" | "newer">,
): Manifest | null {
  if (newer || !Array.isArray(value.events) || !value.events.every(isJsonObject)) return null;
  try {
    const next = advanceManifest(manifest, session, value as unknown as Turn);
    return isManifest(next) ? next : null;
  } catch (error) {
    // The turn is sealed but does not have a turn's shape: fsck reports it.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

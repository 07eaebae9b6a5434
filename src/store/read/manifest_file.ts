/**
 * The manifest file: read with every doubt, because it is a cache that may be torn, old or missing.
 *
 * @module
 */
import { isJsonObject } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { checkSeal } from "../../domain/seal.ts";
import type { SessionPaths } from "../layout.ts";
import { isManifest } from "./manifest_guard.ts";
import { readTrusted, type Refused } from "./safe_open.ts";
import { formatVersion } from "./turn_file.ts";

/** The largest manifest that is read, in bytes; one of ours has about a thousand. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

/** What was found where the manifest lies. */
export type ManifestFile =
  | { readonly status: "ok"; readonly manifest: Manifest }
  | { readonly status: "missing" }
  /** Torn, edited, or of another session: rebuilt from the turns. */
  | { readonly status: "garbled"; readonly message: string }
  /** Of a later format: ignored and left alone. */
  | { readonly status: "newer"; readonly message: string }
  | Refused;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a session's manifest: checksum, shape and session id. Throws the runtime's errors. */
export function readManifest(ports: Ports, paths: SessionPaths): ManifestFile {
  const read = readTrusted(ports, paths.manifest, { maxBytes: MAX_MANIFEST_BYTES });
  // It is a cache: one that is too large to be read is rebuilt like any other that does not serve.
  if (read.status === "refused" && read.code === "too_large") return garbled(read.message);
  if (read.status !== "ok") return read;
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(read.bytes));
  } catch {
    return garbled("is not JSON in UTF-8");
  }
  if (!isJsonObject(value)) return garbled("is not a JSON object");
  // Before the checksum: a later format may seal itself in another way.
  const version = formatVersion(value, "reprise.manifest");
  if (version !== null && version > 1) {
    return {
      status: "newer",
      message: `has the format "reprise.manifest/${version}", newer than this version`,
    };
  }
  if (checkSeal(read.bytes) === null) return garbled("does not fit its checksum");
  if (!isManifest(value)) return garbled("does not have the shape of a manifest");
  if (value.session !== paths.id) {
    return garbled(`belongs to session ${JSON.stringify(value.session)}, not to this one`);
  }
  return { status: "ok", manifest: withoutSum(value) };
}

/** The checksum belongs to the file, not to the value: encoding it again adds a new one. */
function withoutSum(value: Manifest & { readonly sum?: unknown }): Manifest {
  const { sum: _sum, ...manifest } = value;
  return manifest;
}

function garbled(message: string): ManifestFile {
  return { status: "garbled", message };
}

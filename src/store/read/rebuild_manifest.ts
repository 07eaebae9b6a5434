/**
 * A manifest from the turns without judging them by schema: enough for `ls` and `show`, never for a request.
 *
 * @module
 */
import { isJsonObject } from "../../domain/json.ts";
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { type SessionPaths, turnPath } from "../layout.ts";
import { isManifest } from "./manifest_guard.ts";
import { readEnvelope } from "./turn_file.ts";

/** How many turns are read for a session whose manifest does not serve: `ls` stays quick whatever it meets. */
const MAX_TURNS = 1000;

/** The manifest that the first {@linkcode MAX_TURNS} turns give, or `null` when they do not give one. */
export function rebuildLoosely(ports: Ports, paths: SessionPaths): Manifest | null {
  let manifest: Manifest | null = null;
  for (let number = 1; number <= MAX_TURNS; number++) {
    const file = readEnvelope(ports, turnPath(paths, number));
    if (file.status === "missing") break;
    if (file.status === "damaged" || file.newer || !Array.isArray(file.value.events)) return manifest;
    if (!file.value.events.every(isJsonObject)) return manifest;
    const next = advancedOrNull(manifest, paths.id, file.value as unknown as Turn);
    if (next === null) return manifest;
    manifest = next;
  }
  return manifest;
}

function advancedOrNull(manifest: Manifest | null, session: string, turn: Turn): Manifest | null {
  try {
    const next = advanceManifest(manifest, session, turn);
    return isManifest(next) ? next : null;
  } catch (error) {
    // The turn is sealed but does not have a turn's shape: fsck says where.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

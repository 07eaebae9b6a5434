/**
 * What a manifest must hold, without a schema library: `ls` and `@last` read nothing else, and start faster
 * without one. Held equal to `manifest_schema.ts` by a property test.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { type Manifest, MANIFEST_FORMAT } from "../../domain/manifest.ts";

/** True when `value` has the shape of a manifest of this version. */
export function isManifest(value: unknown): value is Manifest {
  return isJsonObject(value) && value.format === MANIFEST_FORMAT &&
    isText(value.session) && isText(value.family) &&
    (value.parent === undefined || isText(value.parent)) && typeof value.title === "string" &&
    isInstant(value.created_at) && isInstant(value.updated_at) &&
    isJsonObject(value.head) && isHead(value.head) &&
    isOrdinal(value.run) && isText(value.state) &&
    isJsonObject(value.pins) && isPins(value.pins) &&
    isJsonObject(value.usage) && isUsage(value.usage) &&
    (value.checkpoint === null || isJsonObject(value.checkpoint) && isCheckpoint(value.checkpoint));
}

function isHead(head: JsonObject): boolean {
  return isOrdinal(head.turn) && isOrdinal(head.seq) && isSha256(head.sum);
}

function isPins(pins: JsonObject): boolean {
  return isJsonObject(pins.fingerprint) && isFingerprint(pins.fingerprint) && isText(pins.model) &&
    [pins.effort, pins.summary].every((setting) => setting === undefined || typeof setting === "string") &&
    isSha256(pins.instructions) && isSha256(pins.tools) &&
    Array.isArray(pins.permissions) && pins.permissions.every(isText) && isText(pins.workspace);
}

function isFingerprint(fingerprint: JsonObject): boolean {
  return isText(fingerprint.provider) && isText(fingerprint.endpoint) &&
    [fingerprint.portless, fingerprint.key].every((hash) => hash === undefined || isText(hash)) &&
    (fingerprint.account === null || isText(fingerprint.account));
}

function isUsage(usage: JsonObject): boolean {
  return isCount(usage.input_tokens) && isCount(usage.cached_tokens) && isCount(usage.output_tokens) &&
    isCount(usage.reasoning_tokens);
}

function isCheckpoint({ turn, seq, to_turn, to_seq, opening_turn }: JsonObject): boolean {
  return [turn, seq, to_turn, to_seq].every(isOrdinal) && (opening_turn === null || isOrdinal(opening_turn));
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isOrdinal(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isSha256(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function isInstant(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
}

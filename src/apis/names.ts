/** Ids, names and keys in the form that APIs accept. */
import { sha256Hex } from "../domain/hash.ts";
import { VERSION } from "../domain/version.ts";
import type { ApiKey } from "./api.ts";

const PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The id of a call in the form of Messages: unchanged if it matches `^[a-zA-Z0-9_-]{1,64}$`, otherwise `call_` and the
 * first 24 hex digits of its sha256. Equal ids stay equal, so that a result still names its call.
 */
export function wireCallId(callId: string): string {
  return PATTERN.test(callId) ? callId : `call_${sha256Hex(callId).slice(0, 24)}`;
}

/** A tool's name in the form of APIs: letters, digits, `_` and `-`, at most 64; `unknown` if there is no name. */
export function wireToolName(name: string): string {
  if (PATTERN.test(name)) return name;
  return name.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, 64) || "unknown";
}

/**
 * The headers of a request for an event stream. A key is `Authorization: Bearer`, or the API's own `keyHeader`; without
 * one there is no such header.
 */
export function apiHeaders(key: ApiKey | null, keyHeader: string): Record<string, string> {
  return {
    ...keyHeaders(key, keyHeader),
    "user-agent": `reprise/${VERSION}`,
    "content-type": "application/json",
    "accept": "text/event-stream",
  };
}

function keyHeaders(key: ApiKey | null, header: string): Record<string, string> {
  if (key === null) return {};
  return key.scheme === "bearer" ? { authorization: `Bearer ${key.value}` } : { [header]: key.value };
}

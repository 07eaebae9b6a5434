/** Ids and names in the form that APIs accept. */
import { sha256Hex } from "../domain/hash.ts";

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

/** Ids, names and texts in the form that APIs accept. */
import { objectOf, wellFormedValue, withMembers } from "../domain/exact_json.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { JsonObject } from "../domain/json.ts";

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
 * An element of a history as JSON text. Text with a lone surrogate is made well-formed, because the APIs refuse every
 * request that holds one; encrypted content and signatures, in the members `untouched`, stay as they are.
 */
export function encodeElement(element: JsonObject, untouched: readonly string[]): string {
  const text = JSON.stringify(element);
  // JSON.stringify writes a lone surrogate as an escape, so that text without "\ud" holds none.
  if (!text.includes("\\ud")) return text;
  const kept = Object.entries(element).filter(([name]) => untouched.includes(name));
  return JSON.stringify(withMembers(wellFormedValue(element) as JsonObject, Object.fromEntries(kept)));
}

/** The members of an element that are sent: without those in `omit`. */
export function withoutMembers(element: JsonObject, omit: readonly string[] = []): JsonObject {
  if (omit.length === 0) return element;
  return objectOf(Object.entries(element).filter(([name]) => !omit.includes(name)));
}

/**
 * What a refused request was refused for, where the history or its fields can be mended: by code and by words,
 * because several of these errors carry no code (protocol §6.2).
 *
 * @module
 */
import type { ApiFailure } from "../../domain/failure.ts";
import type { RequestRefusal } from "../provider.ts";

const INDEX_PARAM = /^input\[(\d{1,9})\](?:\.([A-Za-z_]\w{0,63}))?/;
const REASONING_ID = /\brs_[A-Za-z0-9_-]{1,64}/g;
const CALL_ID =
  /\b(?:function call|tool call|call_id|tool call output with call_id)\s+['"]?([A-Za-z0-9_-]{1,64})/i;

/** Texts that mean reasoning is what the API does not take. */
const REASONING_TEXTS: readonly RegExp[] = [
  /encrypted content .{0,200}could not be (?:verified|decrypted|parsed)/i,
  /encrypted content organization_id did not match/i,
  /of type 'reasoning' was provided without its required following item/i,
  /was provided without its required 'reasoning' item/i,
  /item with id 'rs_[^']{0,80}' not found/i,
  /duplicate item found with id rs_/i,
];
const CALL_TEXTS: readonly RegExp[] = [
  /no tool output found for /i,
  /no tool call found for /i,
];
/** A model that knows no encrypted content refuses to be asked for it (§6.2). */
const INCLUDE_TEXT = /encrypted content is not supported with this model/i;

/** The refusal that `failure` stands for, or `null` when nothing about the request can be mended. */
export function refusalOf(failure: ApiFailure): RequestRefusal | null {
  const { code, status, message, param, providerCode } = failure;
  // Inside a stream an error without code and type is nobody's in particular: its words decide.
  if (code !== "request_refused" && !(code === "provider_failed" && status === null)) return null;
  const ids = [...new Set(message.match(REASONING_ID) ?? [])];
  const place = param === null ? null : INDEX_PARAM.exec(param);
  const index = place === null ? null : Number(place[1]);
  if (INCLUDE_TEXT.test(message) || param === "include" || param?.startsWith("include[") === true) {
    return { kind: "include" };
  }
  if (CALL_TEXTS.some((text) => text.test(message))) {
    return { kind: "call", callId: CALL_ID.exec(message)?.[1] ?? null };
  }
  if (providerCode === "invalid_encrypted_content" || REASONING_TEXTS.some((text) => text.test(message))) {
    return { kind: "reasoning", ids, index };
  }
  if (index === null) return null;
  const unknown = providerCode === "unknown_parameter" || /unknown parameter/i.test(message);
  return { kind: "item", index, field: unknown ? place?.[2] ?? null : null };
}

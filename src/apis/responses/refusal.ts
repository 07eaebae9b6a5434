/**
 * Causes of refused requests that leaving something out can fix: by code and by text, because several of these errors
 * have no code (protocol §6.2).
 */
import type { Omission } from "../../domain/event.ts";
import { hasObjectArguments } from "../../domain/item.ts";
import type { ApiFailure } from "../../domain/errors.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import type { NamedEntry, RequestRefusal } from "../api.ts";
import { guessedRefusal, isBarred, itemRefusal, refusedCalls } from "../refusal.ts";
import { canOmitFromItem } from "./items.ts";

const INDEX_PARAM = /^input\[(\d{1,9})\]/;
/** A member of the item itself: for a deeper member, leaving out the whole member would lose more. */
const FIELD_PARAM = /^input\[\d{1,9}\]\.([A-Za-z_]\w{0,63})$/;
const QUOTED_PLACE = /'(input\[[^']{1,100})'/;
const REASONING_ID = /\brs_[A-Za-z0-9_-]{1,64}/g;

/** Texts that say that the API cannot read the reasoning. */
const UNREADABLE_TEXTS: readonly RegExp[] = [
  /encrypted content .{0,200}could not be (?:verified|decrypted|parsed)/i,
  /encrypted content organization_id did not match/i,
  /item with id 'rs_[^']{0,80}' not found/i,
];
/** Texts that say that the API does not accept the reasoning beside the other items. */
const MISPLACED_TEXTS: readonly RegExp[] = [
  /of type 'reasoning' was provided without its required following item/i,
  /was provided without its required 'reasoning' item/i,
  /duplicate item found with id rs_/i,
];
/** A refusal of arguments, if the request has some that are no JSON object. */
const ARGUMENTS_TEXT = /\barguments\b|\bJSON\b|\bexpecting (?:value|property name)|\bunterminated string/i;
/** An unknown member: text and code of OpenAI, and of FastAPI servers. */
const UNKNOWN_CODES: ReadonlySet<string> = new Set(["unknown_parameter", "extra_forbidden"]);
const UNKNOWN_TEXT = /unknown parameter|extra inputs are not permitted/i;
/** The refusal of `include` by a model without encrypted content (§6.2). */
const INCLUDE_TEXT = /encrypted content is not supported with this model/i;

export function responsesRefusalOf(
  failure: ApiFailure,
  entries: readonly FoldedEntry[],
): RequestRefusal | null {
  const { code, status, message, param, providerCode } = failure;
  // Inside a stream an error without code and type may be a refusal or a fault: its text decides.
  if (code !== "request_refused" && !(code === "provider_failed" && status === null)) return null;
  if (isBarred(failure, entries)) return null;
  const ids = [...new Set(message.match(REASONING_ID) ?? [])];
  // Inside a stream only the text may name the place.
  const named = param ?? QUOTED_PLACE.exec(message)?.[1] ?? null;
  const place = named === null ? null : INDEX_PARAM.exec(named);
  const index = place === null ? null : Number(place[1]);
  const without = INCLUDE_TEXT.test(message) ? "include" : omissionOf(param, message);
  if (without !== null) return { kind: "field", without };
  if (entries.some(isRawCall) && ARGUMENTS_TEXT.test(`${param ?? ""} ${message}`)) {
    return { kind: "field", without: "raw_arguments" };
  }
  const calls = refusedCalls(message, entries);
  if (calls !== null) return calls;
  if (
    providerCode === "invalid_encrypted_content" || UNREADABLE_TEXTS.some((text) => text.test(message))
  ) return { kind: "reasoning", ids, index };
  if (MISPLACED_TEXTS.some((text) => text.test(message))) return { kind: "misplaced_reasoning", ids, index };
  if (index === null) return guessedRefusal(failure, entries);
  const entry = entries[index];
  const unknown = UNKNOWN_CODES.has(providerCode ?? "") || UNKNOWN_TEXT.test(message);
  const member = unknown ? FIELD_PARAM.exec(named ?? "")?.[1] ?? null : null;
  const field = member === null || entry === undefined || canOmitFromItem(entry, member) ? member : null;
  return itemRefusal(failure, entries, { index, field });
}

/** True for a call that is sent with arguments that are no JSON object. */
function isRawCall(entry: FoldedEntry): boolean {
  return entry.kind === "tool_call" && entry.repaired !== true && entry.item.type !== "custom_tool_call" &&
    !hasObjectArguments(entry.item);
}

/** `input[3]` or `input[3].content[1]`, also with dots; the index must be that of a sent item. */
const NAMED_PLACE = /\binput(?:\[|\.)(\d{1,9})\b\]?(?:\.content(?:\[|\.)(\d{1,9}))?/;

/** The entry that a refusal names, in its parameter or in its text. */
export function responsesEntryNamed(
  { param, message }: ApiFailure,
  entries: readonly FoldedEntry[],
): NamedEntry | null {
  const place = NAMED_PLACE.exec(param ?? "") ?? NAMED_PLACE.exec(message);
  if (place === null || entries[Number(place[1])] === undefined) return null;
  return { index: Number(place[1]), part: place[2] === undefined ? null : Number(place[2]) };
}

const OMITTABLE: readonly Omission[] = ["include", "stream_options", "prompt_cache_key"];

/** The request field that the error is about, if the request can be sent without it. */
function omissionOf(param: string | null, message: string): Omission | null {
  const name = param?.split(/[.[]/)[0] ?? /unknown parameter: '(\w{1,64})/i.exec(message)?.[1];
  return OMITTABLE.find((field) => field === name) ?? null;
}

/**
 * Causes of refused requests that leaving something out can fix. Errors of this API have only a type and a text, so the
 * text decides (protocol §11).
 */
import type { ApiFailure } from "../../domain/errors.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import type { NamedEntry, RequestRefusal } from "../api.ts";
import { guessedRefusal, isBarred, itemRefusal, refusedCalls } from "../refusal.ts";
import { layoutOf, type SentBlock } from "./layout.ts";
import { canOmitFromBlock } from "./render.ts";

/** `messages.1.content.0`, and the path of the faulty member in it. */
const PLACE = /\bmessages\.(\d{1,9})\.content\.(\d{1,9})((?:\.\w{1,64})*)/;
const SIGNATURE = /invalid `(?:signature|data)` in `(?:redacted_)?thinking` block/i;
/** Excludes the next sentence, which names the fix. */
const BOUND = /bound to a different conversation/i;
const UNKNOWN =
  /extra inputs are not permitted|unknown|unrecognized|unexpected|unsupported|not (?:supported|allowed)/i;
/** Only this option needs the header: an error about either is fixed by a request without both. */
const DROP_BLOCK = /\bblock_binding\b|\banthropic-beta\b|\bthinking-binding-controls\b/i;

export function messagesRefusalOf(
  failure: ApiFailure,
  entries: readonly FoldedEntry[],
): RequestRefusal | null {
  const { code, status, message } = failure;
  // Inside a stream an error without a known type may be a refusal or a fault: its text decides.
  if (code !== "request_refused" && !(code === "provider_failed" && status === null)) return null;
  if (isBarred(failure, entries)) return null;
  const place = PLACE.exec(message);
  const blocks = place === null ? undefined : layoutOf(entries)[Number(place[1])]?.blocks;
  const index = blocks?.[Number(place?.[2])]?.entry ?? null;
  if (BOUND.test(message)) return { kind: "binding", index };
  if (SIGNATURE.test(message)) return { kind: "reasoning", ids: [], index };
  const calls = refusedCalls(message, entries);
  if (calls !== null) return calls;
  if (DROP_BLOCK.test(message)) return { kind: "field", without: "drop_block" };
  if (index === null) return guessedRefusal(failure, entries);
  const entry = entries[index];
  const member = UNKNOWN.test(message) ? fieldOf(place?.[3] ?? "", entry) : null;
  const field = member !== null && entry !== undefined && canOmitFromBlock(entry, member) ? member : null;
  return itemRefusal(failure, entries, { index, field });
}

/** `messages.5`, `messages.5.content.2` or `messages[5].content[2]`. */
const NAMED_PLACE = /\bmessages(?:\[|\.)(\d{1,9})\b\]?(?:\.content(?:\[|\.)(\d{1,9}))?/;

/** The entry that a refusal names. A message that several entries share is the last of them. */
export function messagesEntryNamed(
  { param, message }: ApiFailure,
  entries: readonly FoldedEntry[],
): NamedEntry | null {
  const place = NAMED_PLACE.exec(param ?? "") ?? NAMED_PLACE.exec(message);
  const blocks = place === null ? undefined : layoutOf(entries)[Number(place[1])]?.blocks;
  const at = place?.[2] === undefined ? (blocks?.length ?? 0) - 1 : Number(place[2]);
  const index = blocks?.[at]?.entry;
  if (blocks === undefined || index === undefined) return null;
  const entryBlocks = blocks.filter(({ entry }) => entry === index);
  const entry = entries[index];
  const isWhole = place?.[2] === undefined || entry?.kind !== "user_message" ||
    entryBlocks.length !== entry.content.length;
  return { index, part: isWhole ? null : at - blocks.indexOf(entryBlocks[0] as SentBlock) };
}

/**
 * The member of a block that a path ends in. The API may put the type of the block before it (`.text.citations`).
 * `null` for a path deeper inside: leaving out the whole member would lose more.
 */
function fieldOf(path: string, entry: FoldedEntry | undefined): string | null {
  const [first, ...rest] = path.split(".").slice(1);
  const tagged = entry !== undefined && "item" in entry && first === entry.item.type;
  const names = tagged ? rest : [first, ...rest];
  return names.length === 1 ? names[0] ?? null : null;
}

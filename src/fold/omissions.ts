/**
 * Items that a person took out of later requests (`items_omitted`), each with its group: a history without them. The
 * fold and the summaries of checkpoints and forks start from it, so that none of them brings such an item back.
 */
import { attachmentIn, userContent } from "../domain/attachment.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import type {
  Item,
  SessionEvent,
  StandingOmission,
  ToolResultEvent,
  UserMessageEvent,
} from "../domain/event.ts";
import { callIdOf } from "../domain/item.ts";
import { sizeText } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";
import { isItemEvent } from "./response_plan.ts";

/** The omissions in force after `event`; `standing` itself if it changes none. */
export function omissionsAfter(
  standing: readonly StandingOmission[],
  event: SessionEvent,
): readonly StandingOmission[] {
  switch (event.type) {
    case "items_omitted": {
      const { seq, seqs, part } = event;
      return [...standing, { seq, seqs, ...(part === undefined ? {} : { part }) }];
    }
    case "omission_withdrawn":
      return standing.some(({ seq }) => seq === event.omission)
        ? standing.filter(({ seq }) => seq !== event.omission)
        : standing;
    case "history_compaction": {
      // The turns before a checkpoint may not have been read.
      const missing = event.omitted?.filter(({ seq }) => standing.every((other) => other.seq !== seq)) ?? [];
      return missing.length === 0 ? standing : [...missing, ...standing];
    }
    default:
      return standing;
  }
}

/** The omissions in force at the end of a history. */
export function standingOmissionsOf(turns: readonly Turn[]): readonly StandingOmission[] {
  return turns.reduce(
    (standing, { events }) => events.reduce(omissionsAfter, standing),
    [] as readonly StandingOmission[],
  );
}

/** Omitted events and parts of messages, by `seq`. */
export interface OmittedItems {
  /** Events that are omitted as a whole, with their groups. A result without its call leaves a note. */
  readonly whole: ReadonlySet<number>;
  /** `seq` of a message and number of its part, with a space between. */
  readonly parts: ReadonlySet<string>;
}

/** The items and parts that the omissions of `standing` take out of a history, by default all that are in force. */
export function omittedItems(
  turns: readonly Turn[],
  standing: readonly StandingOmission[] = standingOmissionsOf(turns),
): OmittedItems {
  const parts = standing.flatMap(({ seqs, part }) => part === undefined ? [] : [`${seqs[0]} ${part}`]);
  const seqs = standing.flatMap(({ seqs, part }) => part === undefined ? seqs : []);
  return { whole: seqs.length === 0 ? new Set() : groupOf(turns, seqs), parts: new Set(parts) };
}

/** Number of omitted items, parts of messages included. */
export function omittedCount({ whole, parts }: OmittedItems): number {
  return whole.size + parts.size;
}

/** The history with notes in place of omitted messages, parts and results. Items stay. */
export function withNotes(
  turns: readonly Turn[],
  omitted: OmittedItems,
): {
  readonly turns: readonly Turn[]; /** The `seq` of each message and result with a note. */
  readonly noted: ReadonlySet<number>;
} {
  const noted = new Set<number>();
  if (omitted.whole.size === 0 && omitted.parts.size === 0) return { turns, noted };
  const changed = turns.map((turn) => {
    const events = turn.events.map((event): SessionEvent => {
      const note = noteFor(event, turn.events, omitted);
      if (note !== event) noted.add(event.seq);
      return note;
    });
    if (!events.some(({ seq }) => noted.has(seq))) return turn;
    const kept = events.filter((event, index) => {
      const message = event.type !== "attachment" ? null : messageAfter(events, index);
      return message === null || !noted.has(message.seq);
    });
    return { ...turn, events: kept };
  });
  return { turns: changed, noted };
}

/** The history without its omitted items, for summaries. */
export function withoutOmitted(turns: readonly Turn[]): readonly Turn[] {
  const omitted = omittedItems(turns);
  if (omitted.whole.size === 0 && omitted.parts.size === 0) return turns;
  const isGone = (event: SessionEvent) =>
    omitted.whole.has(event.type === "tool_result" ? event.call_seq : event.seq) &&
    (isItemEvent(event) || event.type === "tool_result");
  return withNotes(turns, omitted).turns.map((turn) =>
    turn.events.some(isGone) ? { ...turn, events: turn.events.filter((event) => !isGone(event)) } : turn
  );
}

/** Text of a user message that is omitted: the message itself stays, so that the order of the roles stays valid. */
const OMITTED_MESSAGE = "[omitted message]";

function noteFor(event: SessionEvent, events: readonly SessionEvent[], omitted: OmittedItems): SessionEvent {
  if (event.type === "branch_summary" && omitted.whole.has(event.seq)) {
    return { ...event, summary: OMITTED_MESSAGE };
  }
  if (event.type === "tool_result" && omitted.whole.has(event.seq)) {
    // The call stays, so that the model does not make it again.
    return omitted.whole.has(event.call_seq) ? event : { ...event, output: resultNote(event) };
  }
  const content = event.type === "user_message" ? contentOf(event, events, omitted) : null;
  return event.type === "user_message" && content !== null ? { ...event, content } : event;
}

/** The message that an attached file belongs to. */
export function messageAfter(events: readonly SessionEvent[], index: number): SessionEvent | null {
  return events.slice(index).find(({ type }) => type === "user_message") ?? null;
}

/** The content of a message with notes in place of what is omitted, files included; `null` if nothing is. */
function contentOf(
  message: UserMessageEvent,
  events: readonly SessionEvent[],
  omitted: OmittedItems,
): readonly Item[] | null {
  if (omitted.whole.has(message.seq)) return [{ type: "input_text", text: OMITTED_MESSAGE }];
  const content = userContent(message, events);
  const files = content.length - message.content.length;
  const isOut = (index: number) =>
    isOmittedPart(omitted, message.seq, index) ||
    index < files && omitted.whole.has(message.seq - files + index);
  if (!content.some((_part, index) => isOut(index))) return null;
  return content.map((part, index) => isOut(index) ? { type: "input_text", text: partNote(part) } : part);
}

/** True if the part with this index is omitted, alone or with its message. */
export function isOmittedPart({ whole, parts }: OmittedItems, message: number, index: number): boolean {
  return whole.has(message) || parts.has(`${message} ${index + 1}`);
}

/** Text in place of an output, such as `[omitted result, 2.1 MB]`. */
function resultNote({ output, blob }: ToolResultEvent): string {
  return `[omitted result, ${sizeText(blob?.bytes ?? encodeUtf8(output).length)}]`;
}

/** Text in place of a part, such as `[omitted image/png, 2.1 MB]`. */
function partNote(part: Item): string {
  const attachment = attachmentIn(part);
  if (attachment !== null) return `[omitted ${attachment.mediaType}, ${sizeText(attachment.bytes)}]`;
  const text = typeof part.text === "string" ? part.text : undefined;
  if (text !== undefined) return `[omitted text, ${sizeText(encodeUtf8(text).length)}]`;
  const url = [part.image_url, part.file_data].find((value) => typeof value === "string") as
    | string
    | undefined;
  const data = /^data:([\w.+/-]+);base64,/.exec(url ?? "");
  if (url === undefined || data === null) return `[omitted ${part.type.replace(/^input_/, "")}]`;
  const encoded = url.slice(data[0].length).replace(/=+$/, "");
  return `[omitted ${data[1]}, ${sizeText(Math.floor(encoded.length * 3 / 4))}]`;
}

/**
 * Events and all that cannot stay without them: a call and its result, reasoning and the item after it. A result takes
 * nothing along. Other items that need dropped reasoning are left out by the fold, as it depends on the API.
 */
export function groupOf(turns: readonly Turn[], seqs: readonly number[]): ReadonlySet<number> {
  const bound = new Map<number, number[]>();
  const needs = (seq: number, other: number) => bound.set(seq, [...bound.get(seq) ?? [], other]);
  const bind = (seq: number, other: number) => {
    needs(seq, other);
    needs(other, seq);
  };
  /** Calls and outputs among provider items, by the id that both name. */
  const pairs = new Map<string, number>();
  for (const { events } of turns) {
    const items = events.filter(isItemEvent);
    items.forEach((event, index) => {
      const next = items[index + 1];
      if (event.type === "reasoning" && next !== undefined) bind(event.seq, next.seq);
      const id = event.type === "provider_item" ? pairIdOf(event.item) : "";
      const other = pairs.get(id);
      if (other !== undefined) bind(other, event.seq);
      else if (id !== "") pairs.set(id, event.seq);
    });
    for (const event of events) if (event.type === "tool_result") needs(event.call_seq, event.seq);
  }
  const group = new Set(seqs);
  for (const seq of group) for (const other of bound.get(seq) ?? []) group.add(other);
  return group;
}

/** The id that a call and its output share; empty for any other item. */
function pairIdOf(item: Item): string {
  const id = item.tool_use_id ?? callIdOf(item);
  return typeof id === "string" ? id : "";
}

/** Summary of another branch of a fork, as text for the model. The same turns give the same text anywhere. */
import { attachmentNote } from "../domain/attachment.ts";
import type { SessionEvent } from "../domain/event.ts";
import { isJsonObject, type JsonValue, plainText } from "../domain/json.ts";
import { counted, headOf } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";

/** Length of a quoted text, and of a line about a call, in UTF-16 units. */
const QUOTED = 600;
const CALL_LINE = 160;
/** Number of lines that are kept from the start, and from the end. */
const FIRST_LINES = 10;
const LAST_LINES = 30;

/**
 * The turns of session `session` after the cut, in order, with one line for each message, call and end; `null` if there
 * are no turns. Long texts, and the middle of long summaries, are cut and marked.
 */
export function branchSummary(session: string, turns: readonly Turn[]): string | null {
  const [first, last] = [turns[0], turns.at(-1)];
  if (first === undefined || last === undefined) return null;
  const outcomes = new Map<number, string>();
  for (const { events } of turns) {
    for (const event of events) if (event.type === "tool_result") outcomes.set(event.call_seq, event.status);
  }
  const lines = turns.flatMap(({ events }) => events).flatMap((event) => lineOf(event, outcomes));
  const hidden = lines.length - FIRST_LINES - LAST_LINES;
  const shown = hidden <= 0 ? lines : [
    ...lines.slice(0, FIRST_LINES),
    `- (${counted(hidden, "more line")})`,
    ...lines.slice(-LAST_LINES),
  ];
  return [
    `This conversation was forked from session ${JSON.stringify(session)}. There, after this point ` +
    `(events ${first.seq[0]} to ${last.seq[1]}), this happened; files may have been changed by it:`,
    ...shown,
  ].join("\n").toWellFormed();
}

function lineOf(event: SessionEvent, outcomes: ReadonlyMap<number, string>): string[] {
  switch (event.type) {
    case "user_message":
      return [`- user: ${quoted(textOf(event.content), QUOTED)}`];
    case "attachment":
      return [`- user: ${attachmentNote(event)}`];
    case "assistant_message":
      return [`- assistant: ${quoted(textOf(event.item.content as JsonValue | undefined), QUOTED)}`];
    case "tool_call": {
      const { name, arguments: json, input } = event.item;
      const call = `${plainText(name ?? "?")} ${plainText(json ?? input ?? "")}`;
      return [`- call: ${quoted(call, CALL_LINE)}: ${outcomes.get(event.seq) ?? "no result"}`];
    }
    case "history_compaction":
      return ["- the history was compacted"];
    case "run_ended":
      return [`- run ${event.run} ended: ${event.state}`];
    default:
      return [];
  }
}

function textOf(parts: JsonValue | undefined): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return (parts as readonly JsonValue[]).map((part) => {
    if (!isJsonObject(part)) return "";
    return typeof part.text === "string" ? part.text : `(${plainText(part.type)})`;
  }).join(" ");
}

/** One line, cut at `length` units. */
function quoted(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${headOf(line, length)}… (${line.length} characters)`;
}

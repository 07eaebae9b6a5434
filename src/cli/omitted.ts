/** Omitted items in copies and views of a session. */
import type { SessionEvent } from "../domain/event.ts";
import { isItemEvent } from "../fold/response_plan.ts";
import type { Turn } from "../domain/turn.ts";
import { isJsonObject } from "../domain/json.ts";
import { counted } from "../domain/text.ts";
import { omittedItems } from "../fold/omissions.ts";
import type { ShownTurn } from "../store/read/show.ts";

/** States that a copy of the session has the omitted items. */
export function omittedNote(count: number): string {
  return `notice: ${counted(count, "omitted item")} ${count === 1 ? "is" : "are"} in the copy`;
}

/** The `seq` of each event that is omitted as a whole. The turns may be of any version. */
export function omittedSeqs(turns: readonly ShownTurn[]): ReadonlySet<number> {
  const readable = turns.map(({ events }) => ({ events: events.filter(isReadable) }));
  return omittedItems(readable as unknown as readonly Turn[]).whole;
}

/** True if an event has the members that omissions read. */
function isReadable(event: ShownTurn["events"][number]): boolean {
  const { type, item, seq, seqs, part = 1 } = event;
  const hasItem = item !== undefined || isItemEvent(event as unknown as SessionEvent);
  const hasSeqs = seqs !== undefined || type === "items_omitted";
  return Number.isInteger(seq) && (!hasItem || isJsonObject(item) && typeof item.type === "string") &&
    (!hasSeqs || Array.isArray(seqs) && seqs.concat(part).every(Number.isInteger));
}

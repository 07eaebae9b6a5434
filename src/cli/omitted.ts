/** Omitted items in copies and views of a session. */
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
  const readable = turns.map(({ events }) => ({
    events: events.filter(({ item, seqs, seq }) =>
      Number.isInteger(seq) && (item === undefined || isJsonObject(item) && typeof item.type === "string") &&
      (seqs === undefined || Array.isArray(seqs))
    ),
  }));
  return omittedItems(readable as unknown as readonly Turn[]).whole;
}

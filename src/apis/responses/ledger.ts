/**
 * Items of a response that were received already. Ids alone do not identify an item: Copilot sends a new id with every
 * event, and some servers send none. So `output_index` comes first, `item_id` second (protocol §12).
 */
import type { Item } from "../../domain/event.ts";
import { isJsonObject, stringMember } from "../../domain/json.ts";

interface Entry {
  readonly type: string;
  readonly id: string | undefined;
  readonly callId: string | undefined;
}

/** True when `value` can be kept as an item. */
export function isItem(value: unknown): value is Item {
  return isJsonObject(value) && typeof value.type === "string";
}

export function refusesIn(item: Item): boolean {
  return item.type === "message" && Array.isArray(item.content) &&
    item.content.some((part) => isJsonObject(part) && part.type === "refusal");
}

/** The items received so far, by position, id and call id. */
export class ItemLedger {
  readonly #byIndex = new Map<number, Entry[]>();
  readonly #ids = new Set<string>();
  readonly #callIds = new Set<string>();
  readonly #announced = new Map<string, number>();
  /** The position after the last item, for servers that send no positions. */
  #next = 0;

  /** Remembers the position of an announced item, and returns it; `place` is the position that its event names. */
  announce(place: number | undefined, item: Item): number {
    const index = place ?? this.#next;
    const id = stringMember(item, "id");
    if (id !== undefined) this.#announced.set(id, index);
    return index;
  }

  /** Adds a finished item; returns its position, or `undefined` if the item was added before. */
  take(place: number | undefined, item: Item): number | undefined {
    const entry = entryOf(item);
    const index = place ?? this.#announced.get(entry.id ?? "") ?? this.#next;
    const there = this.#byIndex.get(index) ?? [];
    if (entry.id !== undefined && there.some((other) => other.id === entry.id)) return undefined;
    this.#add(index, entry);
    return index;
  }

  /** True if the terminal event's `output` has a new element. */
  lacks(output: readonly unknown[]): boolean {
    return output.some((item, outputIndex) => isItem(item) && !this.#has(outputIndex, entryOf(item)));
  }

  /** Adds the new elements of the terminal event's `output`. */
  missing(output: readonly unknown[]): { readonly item: Item; readonly outputIndex: number }[] {
    const found: { item: Item; outputIndex: number }[] = [];
    output.forEach((item, outputIndex) => {
      if (!isItem(item) || this.#has(outputIndex, entryOf(item))) return;
      this.#add(outputIndex, entryOf(item));
      found.push({ item, outputIndex });
    });
    return found;
  }

  #has(index: number, entry: Entry): boolean {
    const sameCall = (other: Entry) => other.callId === undefined || other.callId === entry.callId;
    if (this.#byIndex.get(index)?.some((other) => other.type === entry.type && sameCall(other))) return true;
    if (entry.id !== undefined && this.#ids.has(entry.id)) return true;
    return entry.callId !== undefined && this.#callIds.has(callKey(entry));
  }

  #add(index: number, entry: Entry): void {
    const there = this.#byIndex.get(index);
    if (there === undefined) this.#byIndex.set(index, [entry]);
    else there.push(entry);
    if (entry.id !== undefined) this.#ids.add(entry.id);
    if (entry.callId !== undefined) this.#callIds.add(callKey(entry));
    this.#next = Math.max(this.#next, index + 1);
  }
}

function entryOf(item: Item): Entry {
  return { type: item.type, id: stringMember(item, "id"), callId: stringMember(item, "call_id") };
}

/** A call and its output share a call id. */
function callKey(entry: Entry): string {
  return `${entry.type} ${entry.callId}`;
}

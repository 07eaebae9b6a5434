/**
 * Items of a response that were received already. Ids alone do not identify an item: Copilot sends a new id with every
 * event, and some servers send none. So `output_index` comes first, `item_id` second (protocol §12).
 */
import type { Item } from "../../domain/event.ts";
import { isItem } from "../../domain/item.ts";
import { isJsonObject, stringMember } from "../../domain/json.ts";

interface Entry {
  readonly item: Item;
  readonly type: string;
  readonly id: string | undefined;
  readonly callId: string | undefined;
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
  /** Types and ids of the announced items: some servers give items of different types one id. */
  readonly #begun = new Set<string>();
  /** Announced items without ids that are not finished, by the position that their events name. */
  readonly #nameless = new Map<number, Entry>();
  /** The position after the last item, for servers that send no positions. */
  #next = 0;

  /**
   * Remembers the position of an announced item, and returns it; `undefined` if the item was announced before. `place` is
   * the position that its event names.
   */
  announce(place: number | undefined, item: Item): number | undefined {
    const index = place ?? this.#next;
    const entry = entryOf(item);
    const open = place === undefined ? undefined : this.#nameless.get(place);
    if (entry.id !== undefined) {
      const key = `${entry.type} ${entry.id}`;
      if (this.#begun.has(key)) return undefined;
      this.#begun.add(key);
      this.#announced.set(entry.id, index);
    } else if (open !== undefined && open.type === entry.type && open.callId === entry.callId) {
      return undefined;
    } else if (place !== undefined) this.#nameless.set(place, entry);
    return index;
  }

  /** Adds a finished item; returns its position, or whether the item that was added before is the same. */
  take(place: number | undefined, item: Item): number | "same" | "different" {
    const entry = entryOf(item);
    const index = place ?? this.#announced.get(entry.id ?? "") ?? this.#next;
    const there = this.#byIndex.get(index) ?? [];
    if (place !== undefined) this.#nameless.delete(place);
    const before = there.find((other) =>
      entry.id !== undefined ? other.id === entry.id && other.type === entry.type : isSame(other, entry)
    );
    if (before !== undefined) return isSame(before, entry) ? "same" : "different";
    this.#add(index, entry);
    return index;
  }

  /** True if no item of this type is at a position. */
  lacksAt(index: number, item: Item): boolean {
    return !this.#has(index, entryOf(item));
  }

  /** True if the terminal event's `output` has a new element. */
  lacks(output: readonly unknown[]): boolean {
    return output.some((item, outputIndex) => isItem(item) && !this.#has(outputIndex, entryOf(item)));
  }

  /** Adds the new elements of the terminal event's `output`. */
  missing(output: readonly unknown[]): { readonly item: Item; readonly outputIndex: number }[] {
    const added: { item: Item; outputIndex: number }[] = [];
    output.forEach((item, outputIndex) => {
      if (!isItem(item) || this.#has(outputIndex, entryOf(item))) return;
      this.#add(outputIndex, entryOf(item));
      added.push({ item, outputIndex });
    });
    return added;
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
  return { item, type: item.type, id: stringMember(item, "id"), callId: stringMember(item, "call_id") };
}

/** A call and its output share a call id. */
function callKey(entry: Entry): string {
  return `${entry.type} ${entry.callId}`;
}

/** True for copies of one item; servers encrypt each copy again (protocol §4.1). */
function isSame(a: Entry, b: Entry): boolean {
  return a.type === b.type && plainText(a.item) === plainText(b.item);
}

function plainText(item: Item): string {
  return JSON.stringify({ ...item, encrypted_content: null });
}

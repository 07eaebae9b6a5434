/** Arguments of calls in answers, for a server that changes them. */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { mapObjects } from "./canonical.ts";

/** Changes the arguments of a call. `isJson` is false for free text, such as a patch. */
export type ChangeArguments = (text: string, isJson: boolean) => string;

export interface CallArguments {
  /**
   * Returns the changed events by index; `events` are the data of a stream in order, `null` for data that is no JSON
   * object. Of a changed call, the first delta has the whole arguments and the other deltas are empty.
   */
  inEvents(events: readonly (JsonObject | null)[], change: ChangeArguments): ReadonlyMap<number, JsonObject>;
  /** Returns the document with changed arguments; the same object if nothing changes. */
  inDocument(document: JsonObject, change: ChangeArguments): JsonObject;
}

export interface ArgumentsDelta {
  /** Index of the event. */
  readonly index: number;
  /** Identifies the call in its stream. */
  readonly call: string | number;
  readonly text: string;
  readonly isJson: boolean;
}

/** Returns the new texts of the deltas of changed calls, by index of their events. */
export function changedDeltas(
  deltas: readonly ArgumentsDelta[],
  change: ChangeArguments,
): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  for (const pieces of Map.groupBy(deltas, ({ call }) => call).values()) {
    const [first] = pieces;
    if (first === undefined) continue;
    const whole = pieces.map(({ text }) => text).join("");
    const changed = change(whole, first.isJson);
    if (changed === whole) continue;
    for (const { index } of pieces) texts.set(index, index === first.index ? changed : "");
  }
  return texts;
}

/** Applies `change` to each object of a list in a member; the same object if none of them changes. */
export function withObjects(
  object: JsonObject,
  name: string,
  change: (object: JsonObject) => JsonObject,
): JsonObject {
  const list = object[name];
  return list === undefined ? object : withMember(object, name, mapObjects(list, change));
}

/** Replaces a member; the same object if the value is the same. */
export function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  return object[name] === value ? object : { ...object, [name]: value };
}

/** Changes a value as its JSON text; the same value if the text does not change. */
export function changedJson(value: JsonValue, change: ChangeArguments): JsonValue {
  const text = JSON.stringify(value);
  const changed = change(text, true);
  return changed === text ? value : JSON.parse(changed);
}

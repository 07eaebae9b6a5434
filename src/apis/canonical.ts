/** Canonical form used to match requests: equal for two requests that mean the same to an API. */
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue, namesOf } from "../domain/json.ts";

/** Names for values that differ between equivalent requests. */
export interface CanonicalNames {
  /** Number of an id in order of first occurrence; it depends only on earlier ids. */
  id(id: JsonValue): JsonValue;
  /** The one name of all copies of an encrypted payload. */
  blob(blob: string): string;
}

/** Canonical form of the requests of an API. Members that change no answer are not in it. */
export interface CanonicalForm {
  /** The body's member that holds the history and grows from request to request. */
  readonly list: string;
  /** Members of the body that change no answer, such as names of caches and users. */
  readonly ignored: ReadonlySet<string>;
  /** Members of an item that the server encrypts again in each copy of the item (protocol §4.1). */
  readonly blobMembers?: readonly string[];
  /** Members of the body with elements that may come in any order, such as definitions of tools. */
  readonly unordered: ReadonlySet<string>;
  /** Any other member of the body. */
  member(name: string, value: JsonValue): JsonValue;
  item(item: JsonObject, names: CanonicalNames): JsonObject;
  /** Removes the contents of what the client's own tools returned from an item. */
  withoutOutputs(item: JsonObject): JsonObject;
  /**
   * The history with the results of each batch of calls in the order of the calls: a client that runs its tools side by
   * side sends the results in the order in which the tools end. {@linkcode originalIndex} finds their places.
   */
  inCallOrder(history: readonly JsonValue[]): readonly JsonValue[];
  /** A path without the parts of its query that change no answer. */
  path(path: string): string;
}

/** Members that hold the history in bodies of any API. */
export const HISTORY_MEMBERS: readonly string[] = ["messages", "input"];

/** Changes the objects of a list; any other value stays. The list itself is returned if nothing changes. */
export function mapObjects(value: JsonValue, change: (object: JsonObject) => JsonObject): JsonValue {
  if (!Array.isArray(value)) return value;
  const changed = value.map((entry: JsonValue) => isJsonObject(entry) ? change(entry) : entry);
  return changed.every((entry, index) => entry === value[index]) ? value : changed;
}

/** The objects of a list without one member; any other value unchanged. */
export function withoutMember(list: JsonValue, member: string): JsonValue {
  return mapObjects(list, (entry) => without(entry, member));
}

export function without(object: JsonObject, member: string): JsonObject {
  if (!Object.hasOwn(object, member)) return object;
  return mapMembers(object, (name, value) => name === member ? undefined : value);
}

/** Returns the object with `change` applied to each member; `undefined` removes it. Nothing is copied if nothing changes. */
export function mapMembers(
  object: JsonObject,
  change: (name: string, value: JsonValue) => JsonValue | undefined,
): JsonObject {
  if (isRawNumber(object)) return object;
  let members: [string, JsonValue][] | null = null;
  const names = namesOf(object);
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    const value = object[name];
    const changed = value === undefined ? undefined : change(name, value);
    if (members === null && changed !== value) {
      members = names.slice(0, at).map((before) => [before, object[before] as JsonValue]);
    }
    if (members !== null && changed !== undefined) members.push([name, changed]);
  }
  return members === null ? object : Object.fromEntries(members);
}

/** Indices of elements in the list that a list was made from. */
const originals = new WeakMap<readonly JsonValue[], readonly number[]>();

/** Notes that a new list was made from the elements of `list` with these indices, in this order; returns it. */
export function madeFrom(
  list: readonly JsonValue[],
  indices: readonly number[],
  made: readonly JsonValue[],
): readonly JsonValue[] {
  originals.set(made, indices.map((index) => originalIndex(list, index)));
  return made;
}

/** Returns the index that an element of a list had in the body that the list comes from. */
export function originalIndex(list: readonly JsonValue[], index: number): number {
  return originals.get(list)?.[index] ?? index;
}

/** Sorts a list, equal elements in their order. A list that is in order is returned itself. */
export function sorted(
  list: readonly JsonValue[],
  compare: (a: number, b: number) => number,
): readonly JsonValue[] {
  const indices = [...list.keys()].sort(compare);
  if (indices.every((from, to) => from === to)) return list;
  return madeFrom(list, indices, indices.map((index) => list[index] ?? null));
}

/**
 * Returns the place of a call among all calls by its id, at which it comes first; `undefined` for an unknown one. The
 * calls are listed when the first place is asked for: few histories need any.
 */
export function callPlaces(
  listIds: () => readonly (JsonValue | undefined)[],
): (id: string) => number | undefined {
  let places: Map<JsonValue | undefined, number> | null = null;
  return (id) => {
    if (places === null) {
      places = new Map();
      for (const each of listIds()) if (!places.has(each)) places.set(each, places.size);
    }
    return places.get(id);
  };
}

/**
 * Sorts each run of results by the calls that they answer; results of unknown calls come last, in their order.
 *
 * @param callOf Id of the call that an element is the result of; `null` for other elements, which stay in place.
 * @param placeOf Place of a call among all calls; `undefined` if the history does not hold it.
 */
export function sortedResults(
  list: readonly JsonValue[],
  callOf: (element: JsonValue, index: number) => string | null,
  placeOf: (callId: string) => number | undefined,
): readonly JsonValue[] {
  const calls = list.map((element, index) => callOf(element, index));
  if (!calls.some((call, index) => call !== null && (calls[index + 1] ?? null) !== null)) return list;
  // Elements of one run have one start: the list is sorted by it first.
  let start = 0;
  const places = calls.map((call, index) => {
    if (call === null || calls[index - 1] === null) start = index;
    return { start, place: call === null ? 0 : placeOf(call) ?? Infinity };
  });
  return sorted(list, (a, b) => {
    const [first, second] = [places[a], places[b]];
    if (first === undefined || second === undefined) return 0;
    if (first.start !== second.start) return first.start - second.start;
    return first.place === second.place ? 0 : first.place - second.place;
  });
}

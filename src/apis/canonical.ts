/**
 * Canonical form used to match requests: equal for two requests that mean the same to an API.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";

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
  readonly blobMembers: readonly string[];
  /** Any other member of the body. */
  member(name: string, value: JsonValue): JsonValue;
  /** One item of the history. */
  item(item: JsonObject, names: CanonicalNames): JsonObject;
  /** Removes the contents of what the client's own tools returned from an item. */
  withoutOutputs(item: JsonObject): JsonObject;
  /** A path with its query. */
  path(path: string): string;
}

/** Members that hold the history in bodies of any API. */
export const HISTORY_MEMBERS: readonly string[] = ["messages", "input"];

/** The objects of a list without one member; any other value unchanged. */
export function withoutMember(list: JsonValue, member: string): JsonValue {
  if (!Array.isArray(list)) return list;
  return list.map((entry) =>
    isJsonObject(entry) ? mapMembers(entry, (name, value) => name === member ? undefined : value) : entry
  );
}

/** Copies an object with `change` applied to each member; `undefined` removes the member. */
export function mapMembers(
  object: JsonObject,
  change: (name: string, value: JsonValue) => JsonValue | undefined,
): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const changed = value === undefined ? undefined : change(name, value);
      return changed === undefined ? [] : [[name, changed]];
    }),
  );
}

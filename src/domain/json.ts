/**
 * JSON values as `JSON.parse` or `parseExact` return them. Unknown fields are kept everywhere.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object; a missing member reads as `undefined`. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** True when `value` is a JSON object (not `null`, not an array), or a raw number, which is an object to JavaScript. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A number that JavaScript would spell differently: `JSON.stringify` writes its source text. */
export interface RawNumber extends JsonObject {
  readonly rawJSON: string;
}

/** Parts of the runtime's `JSON` that its type declarations lack. */
const raw = JSON as unknown as { isRawJSON(value: unknown): value is RawNumber };

/** True for a number that keeps its source text. */
export function isRawNumber(value: unknown): value is RawNumber {
  return raw.isRawJSON(value);
}

/** The members that are set: an optional member may be absent, but not `undefined`. */
export function defined<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}

/** The objects of a list; an empty list for any other value. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** All strings in a value, at any depth. */
export function stringsIn(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Parses a JSON object; `null` if the text is another JSON value, or not JSON. */
export function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A string unchanged, any other value as JSON. `String` throws for an object with a member `toString` or `valueOf`. */
export function plainText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "undefined";
}

/** The member `name` as a string, or `undefined` when it is absent or of another type. */
export function stringMember(object: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** The member `name` as a finite number, or `undefined`. */
export function numberMember(object: JsonObject, name: string): number | undefined {
  const member = Object.hasOwn(object, name) ? object[name] : undefined;
  const value = isRawNumber(member) ? Number(member.rawJSON) : member;
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/**
 * The member `name` as a count, whatever number a server sends: rounded, from 0 to 2^53 − 1. 0 when it is absent or of
 * another type.
 */
export function countMember(object: JsonObject, name: string): number {
  return knownCount(object, name) ?? 0;
}

/** The member `name` as {@linkcode countMember} reads it; `null` if it is no number. */
export function knownCount(object: JsonObject, name: string): number | null {
  const value = numberMember(object, name);
  return value === undefined ? null : Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value)));
}

/** The member `name` as an index of a list, or `undefined` when it is absent or not an index. */
export function indexMember(object: JsonObject, name: string): number | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return Number.isSafeInteger(value) && (value as number) >= 0 ? value as number : undefined;
}

/** The member `name` as an object, or `undefined`. */
export function objectMember(object: JsonObject, name: string): JsonObject | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isJsonObject(value) ? value : undefined;
}

const listed = new WeakMap<JsonObject, readonly string[]>();

/** Keeps the names of an object with many members, each once in any order: the runtime takes long to list them. */
export function noteNames(object: JsonObject, names: readonly string[]): void {
  listed.set(object, names);
}

/** Returns the names of an object's members: in the order of `Object.keys`, unless they were noted. */
export function namesOf(object: JsonObject): readonly string[] {
  return listed.get(object) ?? Object.keys(object);
}

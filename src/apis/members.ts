/** Members of objects in requests, in one notation for all APIs. */
import { words } from "../domain/text.ts";

/** Members of one kind of object. */
export interface Members {
  readonly required: readonly string[];
  readonly all: readonly string[];
}

/** Reads names with white space between them; a member that may be absent ends with `?`: `name input_schema type?`. */
export function members(list: string): Members {
  const names = list === "" ? [] : words(list);
  return {
    required: names.filter((name) => !name.endsWith("?")),
    all: names.map((name) => name.replace(/\?$/, "")),
  };
}

/** Tables of {@linkcode members} by type. */
export function membersByType(table: Readonly<Record<string, string>>): ReadonlyMap<string, Members> {
  return new Map(Object.entries(table).map(([type, list]) => [type, members(list)]));
}

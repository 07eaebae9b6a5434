/**
 * Values with one member spoilt, for tests of shapes.
 *
 * @module
 */
import fc from "fast-check";

type Json = Record<string, unknown>;

const SHA = "0123456789abcdef".repeat(4);

/** Every path to a member of a value. */
export function pathsIn(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap((
    [name, member],
  ) => [[...at, name], ...pathsIn(member, [...at, name])]);
}

/** Values that are odd somewhere: each kind of JSON value, and those at the edges of what fits. */
export const ODD = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(undefined, null, "", 0, -0, -1, 1.5, 2 ** 53, true, [], {}, [1], [1, 2, 3], [{}]),
  fc.constantFrom<unknown>(SHA.toUpperCase(), `${SHA}0`, "2026-11-21T20:18:00Z", "tool_use", "allowed", "x"),
);

/** Returns a copy of `whole` with another member at `path`; without it if `value` is `undefined`. */
export function withMember(whole: Json, path: readonly string[], value: unknown): Json {
  const copy = structuredClone(whole);
  let holder = copy;
  for (const name of path.slice(0, -1)) holder = holder[name] as Json;
  const last = path.at(-1) as string;
  if (value === undefined && !Array.isArray(holder)) delete holder[last];
  else holder[last] = value ?? null;
  return copy;
}

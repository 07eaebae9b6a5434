/** JSON objects whose members hide those of JavaScript, at every place of a value. */
import type { Json } from "./files.ts";

/** Objects that neither `String` nor a template can show, and that look like a list. */
export const HOSTILE_OBJECTS: readonly Json[] = [
  { toString: 0, valueOf: 0 },
  { toString: null },
  { toJSON: 0, length: -1 },
];

/** Copies of a value, each with `hostile` at another place; with `undefined`, each without one of its members. */
export function* spoilt(value: Json, hostile: Json): Generator<Json> {
  if (hostile !== undefined) yield hostile;
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      for (const one of spoilt(each, hostile)) yield value.with(index, one);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      for (const one of spoilt(each ?? null, hostile)) yield { ...value, [name]: one };
      if (hostile === undefined) {
        yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      }
    }
  }
}

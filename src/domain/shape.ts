/**
 * Shapes of JSON values that we write ourselves, as functions. They are in the way of every call that reads a session,
 * where building a schema of a library and validating with it would take longer than reading.
 */
import { isJsonObject } from "./json.ts";

/** First place at which a value differs from a shape. */
export interface Mismatch {
  /** Names of members and indexes of lists that lead to it. */
  readonly path: readonly (string | number)[];
  /** Description of the values that fit, such as `a string`. */
  readonly expected: string;
}

/** Compares a value with a shape; returns `null` if it fits. */
export type Shape = (value: unknown) => Mismatch | null;

/** Values for which `fits` returns true. */
export function where(expected: string, fits: (value: unknown) => boolean): Shape {
  const mismatch: Mismatch = { path: [], expected };
  return (value) => fits(value) ? null : mismatch;
}

export const string: Shape = where("a string", (value) => typeof value === "string");

export const filledString: Shape = where(
  "a string that is not empty",
  (value) => typeof value === "string" && value !== "",
);

/** A whole number of at least 0 that JavaScript holds exactly. */
export const count: Shape = where(
  "a count",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

/** A whole number of at least 1 that JavaScript holds exactly. */
export const ordinal: Shape = where(
  "a number from 1",
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
);

const NOT_HEX = /[^0-9a-f]/;

export const sha256: Shape = where(
  "a SHA-256 in hex",
  (value) => typeof value === "string" && value.length === 64 && !NOT_HEX.test(value),
);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** UTC time with milliseconds, such as `2026-01-31T10:00:00.000Z`. */
export const instant: Shape = where(
  "a time in UTC",
  (value) => typeof value === "string" && INSTANT.test(value),
);

export const anyObject: Shape = where("an object", isJsonObject);

/** One of these strings or `true`. */
export function literal(...values: readonly (string | true)[]): Shape {
  const names = values.map((value) => JSON.stringify(value)).join(" or ");
  return where(names, (value) => (values as readonly unknown[]).includes(value));
}

/** Object with these members, and any others. */
export function object(members: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(members);
  const shapes = Object.values(members);
  return (value) => {
    if (!isJsonObject(value)) return anyObject(value);
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const mismatch = (shapes[index] as Shape)(value[name]);
      if (mismatch !== null) return under(name, mismatch);
    }
    return null;
  };
}

/** Object in which every member has this shape. */
export function record(shape: Shape): Shape {
  return (value) => {
    if (!isJsonObject(value)) return anyObject(value);
    for (const [name, member] of Object.entries(value)) {
      const mismatch = shape(member);
      if (mismatch !== null) return under(name, mismatch);
    }
    return null;
  };
}

/** List with members of this shape, at least `least`. */
export function listOf(shape: Shape, least = 0): Shape {
  const size = where(least === 0 ? "a list" : `a list of at least ${least}`, Array.isArray);
  return (value) => {
    if (!Array.isArray(value) || value.length < least) return size(null);
    for (let index = 0; index < value.length; index++) {
      const mismatch = shape(value[index]);
      if (mismatch !== null) return under(index, mismatch);
    }
    return null;
  };
}

/** List of exactly two members of this shape. */
export function pair(shape: Shape): Shape {
  const two = listOf(shape);
  const size = where("a list of two", Array.isArray);
  return (value) => Array.isArray(value) && value.length !== 2 ? size(null) : two(value);
}

/** Value of this shape, or no member. */
export function optional(shape: Shape): Shape {
  return (value) => value === undefined ? null : shape(value);
}

export function nullable(shape: Shape): Shape {
  return (value) => value === null ? null : shape(value);
}

/** Value of one of two shapes; the mismatch is that of the second. */
export function either(first: Shape, second: Shape): Shape {
  return (value) => first(value) === null ? null : second(value);
}

function under(name: string | number, { path, expected }: Mismatch): Mismatch {
  return { path: [name, ...path], expected };
}

/**
 * JSON that is written with the spelling that was read. JavaScript loses the spelling of numbers (`1.0`, `-0`,
 * integers above 2^53) and puts members with integer names (`"10"`) before all others. Here both are kept: such a
 * number is a {@linkcode RawNumber}, and such an object a proxy that lists its members in their order.
 * `JSON.stringify`, `Object.keys` and `Object.entries` see the original; a spread or `Object.fromEntries` loses the
 * order, which {@linkcode objectOf} and {@linkcode withMembers} keep.
 */
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue, type RawNumber } from "./json.ts";

/**
 * Parses a JSON text so that it can be written unchanged, except for white space, escapes in strings and repeated
 * members. A text that JavaScript can hold costs one scan more than `JSON.parse`.
 *
 * @throws {SyntaxError} when `text` is not JSON.
 */
export function parseExact(text: string): JsonValue {
  return exactValue(JSON.parse(text), text);
}

/** Returns `parsed`, the result of `JSON.parse(text)`, or the exact value if `JSON.parse` may have lost something. */
export function exactValue<T extends JsonValue>(parsed: T, text: string): T {
  return SUSPECT.test(text) || BARE_NUMBER.test(text) ? readAcceptedJson(text, SPELLED) as T : parsed;
}

/** Returns the number with this source text, for {@linkcode Reading}. */
export function rawNumber(source: string): RawNumber {
  return (JSON as unknown as { rawJSON(source: string): RawNumber }).rawJSON(source);
}

/** Decides which value represents a part of a text. */
export interface Reading {
  number(source: string): JsonValue;
  object(members: readonly (readonly [string, JsonValue])[]): JsonObject;
}

const SPELLED: Reading = {
  number: (source) => String(Number(source)) === source ? Number(source) : rawNumber(source),
  object: objectOf,
};

/**
 * True if `text`, which `JSON.parse` has accepted, surely has `value` as its only member `name`, a plain word, spelled as
 * JavaScript spells it. Costs one search, whatever else `text` holds.
 */
export function hasExactMember(text: string, name: string, value: JsonObject): boolean {
  const quoted = JSON.stringify(name);
  // The escape of an ASCII character may be part of the same name. `indexOf` takes twice as long for each of the two.
  const search = new RegExp(String.raw`${quoted}|\\u00`, "g");
  const found = search.exec(text);
  return found !== null && found[0] === quoted && !search.test(text) &&
    text.startsWith(`:${JSON.stringify(value)}`, found.index + quoted.length);
}

/** Creates an object with these members in this order, integer names included. */
export function objectOf(members: readonly (readonly [string, JsonValue | undefined])[]): JsonObject {
  const object: JsonObject = Object.fromEntries(members);
  // Plain objects list integer names first: if the first name is no integer, no name is.
  for (const first in object) {
    if (!isDigit(first.charCodeAt(0))) return object;
    break;
  }
  const names = [...new Set(members.map(([name]) => name))];
  if (Object.keys(object).every((name, index) => name === names[index])) return object;
  return new Proxy(Object.freeze(object), { ownKeys: () => names });
}

/** Returns `object` with these members: they replace its own members of the same name, or come last. */
export function withMembers<T extends JsonObject>(object: T, members: JsonObject): T {
  return objectOf([...Object.entries(object), ...Object.entries(members)]) as T;
}

/** Returns `value` with well-formed Unicode in every string (a lone surrogate becomes U+FFFD). */
export function wellFormedValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (isJsonObject(value) && !isRawNumber(value)) {
    return objectOf(
      Object.entries(value).map(([name, member]) => [
        name.toWellFormed(),
        wellFormedValue(member ?? null),
      ]),
    );
  }
  return value;
}

const QUOTE = 0x22, MINUS = 0x2d, BACKSLASH = 0x5c;

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/**
 * Finds each number that is no count of at most 15 digits, and each member with the name of an array index, also where
 * they are part of a string: one native search is enough for most texts. Every match begins with one of four characters,
 * which lets the search skip all others; a colon after a digit is part of a time, not after the name of a member.
 *
 * Finds each name with an escape too, and list elements that begin so: after an object with the name `a\`, V8 reads `a\n`
 * in its place as `a\` as well (seen in Deno 2.7 and 2.9), but not in a string that is parsed alone.
 */
const SUSPECT =
  /(?:[[,{]|(?<!\d):)[ \t\n\r]*(?:-|\d+[.eE]|\d{16}|"(?:\d|\\u003\d)+"[ \t\n\r]*:)|[,{][ \t\n\r]*"[^"\\]*\\/;
/** A text that is only a number. */
const BARE_NUMBER = /^[ \t\n\r]*[-\d]/;

const NUMBER = /[-+.\deE]+/y;

function numberAt(text: string, index: number): string {
  NUMBER.lastIndex = index;
  return NUMBER.exec(text)?.[0] ?? "";
}

/** The index after the closing quote of the string that begins at `open`. */
function stringEnd(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1);; close = text.indexOf('"', close + 1)) {
    let escapes = 0;
    while (text.charCodeAt(close - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return close + 1;
  }
}

/** An array or object that is being read. */
interface Open {
  readonly items: JsonValue[];
  /** The members of an object; `null` for an array. */
  readonly members: [string, JsonValue][] | null;
  name: string | null;
}

/** Reads a text that `JSON.parse` has accepted. Keeps a stack of its own: the text may nest deeply. */
export function readAcceptedJson(text: string, reading: Reading): JsonValue {
  const stack: Open[] = [];
  for (let at = 0;;) {
    let value: JsonValue;
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      const end = stringEnd(text, at);
      value = JSON.parse(text.slice(at, end));
      at = end;
      const top = stack.at(-1);
      if (top !== undefined && top.members !== null && top.name === null) {
        top.name = value as string;
        continue;
      }
    } else if (unit === MINUS || isDigit(unit)) {
      const source = numberAt(text, at);
      value = reading.number(source);
      at += source.length;
    } else {
      const character = text[at++];
      if (character === "{" || character === "[") {
        stack.push({ items: [], members: character === "{" ? [] : null, name: null });
        continue;
      }
      if (character === "}" || character === "]") {
        const { items, members } = stack.pop() as Open;
        value = members === null ? items : reading.object(members);
      } else if (character === "t" || character === "f" || character === "n") {
        value = character === "n" ? null : character === "t";
        at += character === "f" ? 4 : 3;
      } else continue; // a comma, a colon or white space
    }
    const top = stack.at(-1);
    if (top === undefined) return value;
    if (top.members === null) top.items.push(value);
    else {
      top.members.push([top.name as string, value]);
      top.name = null;
    }
  }
}

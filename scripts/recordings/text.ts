/**
 * Replaces text of others by text of ours: as long, and with the same classes of characters in the same places. Equal
 * parts stay equal in all recordings, so that calls still find their results, and deltas add up to their text.
 *
 * @module
 */
import { KEPT } from "./kept.ts";
import { WORDS } from "./words.ts";

/** Times move by this, so that their order and their distance stay. */
const EARLIER_SECONDS = 3_388_407;
/** Counts shrink to this part of what they are above their first power of ten. */
const SHRINK = 0.83;

const ID_PREFIXES =
  "apc|call|caller|cfile|chatcmpl|ci|cm|cmp|cmpl|cntr|ct|ctc|fc|file|fp|fs|gen|ig|mcp|mcpl|mcpr|mfpt|msg|proj|prog|req|resp|rs|sh|sho|toolu|tsc|tso|user|vs|ws";
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Beginnings by which blobs are recognized: Fernet, WebP, and Anthropic's signatures. */
const BLOB_START = /^(?:gAAAAAB|UklGR|E\w{3}Ck[A-Z]I)(?=\w{9})/;

/** Patterns with their replacements; the first rule that fits a place wins. */
const RULES: readonly (readonly [pattern: string, replace: (found: string) => string])[] = [
  [KEPT.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), (found) => found],
  ["\\b20\\d\\d-[01]\\d-[0-3]\\d(?:T\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z)?", earlierIso],
  [
    "[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT",
    (date) => moved(date).toUTCString(),
  ],
  // Escapes inside of JSON in a string, and in URLs.
  ["\\\\+(?:u[\\da-fA-F]{4}|[^])|%[\\dA-F]{2}", (found) => found],
  ["[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}", scrambled],
  [`(?<![\\w-])(?:${ID_PREFIXES})[_-](?=[A-Za-z0-9])`, (found) => found],
  ["[A-Za-z]{1,24}(?![A-Za-z0-9])", ownWord],
  ["[A-Za-z0-9]+", scrambled],
];
const ANY = new RegExp(RULES.map(([pattern]) => `(${pattern})`).join("|"), "g");

/** Returns the text with everything replaced that could be somebody's. */
export function ownText(text: string): string {
  return text.replace(ANY, (found: string, ...groups) => {
    const rule = RULES[groups.findIndex((group) => group !== undefined)];
    return rule === undefined ? found : rule[1](found);
  });
}

/** Returns a number as JSON writes it, with other digits: as many, and zeros in front stay. */
export function ownNumber(digits: string): string {
  if (/^1[5-9]\d{8}$/.test(digits)) return String(Number(digits) - EARLIER_SECONDS);
  if (/^1[5-9]\d{11}$/.test(digits)) return String(Number(digits) - EARLIER_SECONDS * 1000);
  const [mantissa = "", exponent = ""] = digits.split(/(?=e)/i);
  if (mantissa.replaceAll(/\D/g, "").length <= 3) return digits;
  return mantissa.replaceAll(/[1-9]\d*/g, scrambled) + exponent;
}

/** Returns another count of as many digits; a larger count never becomes the smaller one. */
export function ownCount(count: number): number {
  const least = count === 0 ? 0 : 10 ** (String(count).length - 1);
  return least + Math.floor((count - least) * SHRINK);
}

function moved(date: string): Date {
  return new Date(Date.parse(date) - EARLIER_SECONDS * 1000);
}

function earlierIso(date: string): string {
  const made = moved(date).toISOString();
  const fraction = /\.(\d+)/.exec(date)?.[1];
  return made.slice(0, Math.min(date.length, 19)) +
    (date.length < 19 ? "" : fraction === undefined ? "Z" : `.${scrambled(fraction)}Z`);
}

function ownWord(word: string): string {
  const lower = word.toLowerCase();
  const made = lower.length === 1
    ? at(LETTERS, LETTERS.indexOf(lower) + 11)
    : parts(lower.length).map((letters, index) => {
      const words = (WORDS[letters] ?? []).filter((other) => other !== lower);
      return at(words, hash(`${lower}${index}`));
    }).join("");
  return [...made].map((letter, index) => /[A-Z]/.test(word[index] ?? "") ? letter.toUpperCase() : letter)
    .join("");
}

/** Numbers of letters of the words that make up a long one. */
function parts(letters: number): number[] {
  return letters <= 8 ? [letters] : letters <= 10 ? [5, letters - 5] : [5, ...parts(letters - 5)];
}

/** Each character depends on all before it: what begins alike still does. */
function scrambled(text: string): string {
  const start = BLOB_START.exec(text)?.[0] ?? "";
  const letters = /^[\da-f-]+$/.test(text) ? "abcdef" : LETTERS;
  let state = 0;
  return start + [...text.slice(start.length)].map((character, index) => {
    state = hash(`${state}${character}`);
    if (/[a-z]/.test(character)) return at(letters, state);
    if (/[A-Z]/.test(character)) return at(LETTERS, state).toUpperCase();
    if (!/\d/.test(character) || (character === "0" && index === 0)) return character;
    return index === 0 ? String(1 + (state % 8 + Number(character)) % 9) : at("0123456789", state);
  }).join("");
}

function at<T>(list: ArrayLike<T>, index: number): T {
  return list[index % list.length] as T;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ value >>> 15, 0x2c1b3c6d);
  return (value ^ value >>> 13) >>> 0;
}

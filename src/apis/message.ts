/**
 * Text of a server inside a message of ours: one line, short, without escapes and without keys.
 *
 * @module
 */
import { headOf } from "../domain/text.ts";

const MESSAGE_LENGTH = 600;
const EXCERPT_LENGTH = 160;
/** Characters of a body that are read for an excerpt, so that cleaning it stays cheap. */
const LOOK_LENGTH = 4096;

/** A server's sentence without line ends, control characters, keys and final full stop, cut to 600 characters. */
export function oneLine(text: string): string {
  return cut(clean(text.slice(0, LOOK_LENGTH)), MESSAGE_LENGTH).replace(/\.$/, "");
}

/** The quoted start of a body that is not what was asked for: HTML without its tags, at most 160 characters. */
export function excerptOf(body: string): string {
  const text = clean(body.slice(0, LOOK_LENGTH).replace(/<[^<>]*>/g, " "));
  return text === "" ? "an empty body" : JSON.stringify(cut(text, EXCERPT_LENGTH));
}

/** A short word of a server in quotes. */
export function quoted(word: string): string {
  return JSON.stringify(cut(clean(word.slice(0, LOOK_LENGTH)), EXCERPT_LENGTH));
}

function clean(text: string): string {
  return text.toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, " ")
    .trim()
    .replace(/\b(sk|rk|pk|gsk|xai)-[\w*.-]{6,}/g, "$1-…")
    .replace(/\bBearer \S+/gi, "Bearer …");
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${headOf(text, length)}…`;
}

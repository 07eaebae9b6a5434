/** Text of a server inside a message of ours: one line, short, without escapes and without keys. */
import type * as z from "zod";
import {
  AFTER_ESCAPE,
  boundedRepeats,
  patternsOf,
  SECRET_PATTERNS,
  type SecretPattern,
} from "../domain/secret_patterns.ts";
import { cutText } from "../domain/text.ts";

const MESSAGE_LENGTH = 600;
const EXCERPT_LENGTH = 160;
/** Characters of a body that are read for an excerpt, so that cleaning it stays cheap. */
const LOOK_LENGTH = 4096;

/** Keys as servers repeat them, and other secrets that are known by themselves. */
const REPEATED_KEY = anyOf("\\b", SECRET_PATTERNS.filter(({ inMessages }) => inMessages));
const OTHER_KEY = anyOf(`(?:\\b|${AFTER_ESCAPE})`, patternsOf("api_key", "jwt"));

/** A server's sentence without line ends, control characters, keys and final full stop, cut to 600 characters. */
export function oneLine(text: string): string {
  return cutText(clean(text.slice(0, LOOK_LENGTH)), MESSAGE_LENGTH).replace(/\.$/, "");
}

/** Quotes the start of a body of an unexpected type: HTML without its tags, at most 160 characters. */
export function excerptOf(body: string): string {
  const text = clean(body.slice(0, LOOK_LENGTH).replace(/<[^<>]*>/g, " "));
  return text === "" ? "an empty body" : JSON.stringify(cutText(text, EXCERPT_LENGTH));
}

/** A short word of a server in quotes. */
export function quoted(word: string): string {
  return JSON.stringify(cutText(clean(word.slice(0, LOOK_LENGTH)), EXCERPT_LENGTH));
}

/** The first mismatch of `value` with `schema`, as `path: problem`; `undefined` if it matches. */
export function mismatchOf(schema: z.ZodType, value: unknown): string | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  return issue === undefined ? undefined : `${issue.path.join(".") || "value"}: ${issue.message}`;
}

function clean(text: string): string {
  return text.toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, " ")
    .trim()
    .replace(REPEATED_KEY, shortKey)
    .replace(/\bBearer \S+/gi, "Bearer …")
    .replace(OTHER_KEY, shortKey);
}

function anyOf(start: string, rows: readonly SecretPattern[]): RegExp {
  return new RegExp(
    `${start}(?:${rows.map(({ secret }) => boundedRepeats(secret, LOOK_LENGTH)).join("|")})`,
    "g",
  );
}

/** The first letters of a key, which say whose it is: `sk-…`. */
function shortKey(key: string): string {
  return `${/^[A-Za-z]{2,4}[-_]?/.exec(key)?.[0] ?? ""}…`;
}

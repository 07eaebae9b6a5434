/**
 * Replaces secrets in texts by marks: they are found by the shapes in `secret_patterns.ts`. All patterns take time
 * linear in the text: each begins where a token begins, and repeats are bounded.
 */
import {
  AFTER_ESCAPE,
  boundedRepeats,
  patternsOf,
  PRIVATE_KEY,
  type SecretKind,
  type SecretPattern,
} from "./secret_patterns.ts";
import { isSecretName, nameAtEnd } from "./secret_names.ts";

/** Number of replaced secrets of each kind; kinds without any are absent. */
export type SecretCounts = Partial<Record<SecretKind | "known", number>>;

/** Replaces secrets whose values are known, each by text of the same length, and counts them. */
export interface ValueRedactor {
  /** Number of secrets replaced so far. */
  readonly counts: { readonly known?: number };
  text(text: string): string;
  /** The bytes of a text that comes in pieces; what it returns is good until the next call. */
  stream(): { feed(bytes: Uint8Array): Uint8Array; end(): Uint8Array };
}

/** The text that replaces known secrets, repeated. */
const FILLER = "REDACTED";

/** Longest secret, but for the parts of a web token and private keys. */
const LONGEST = 4096;
const BARE = `[^\\s"'\\\\,;&)}\\]]`;
/** A quoted value goes up to its closing quote, any other up to what cannot be part of a token; marks are part of it. */
const VALUE = [
  `\\\\{0,7}"(?<double>[^"\\\\\\n]{1,${LONGEST}})`,
  `\\\\{0,7}'(?<single>[^'\\\\\\n]{1,${LONGEST}})`,
  // A list or object of JSON is no value, but may hold one.
  `(?:(?<==\\s{0,4})|(?![[{]))(?=${BARE}{3})(?<bare>(?:\\[redacted \\w{1,16}\\]|${BARE}){1,${LONGEST}})`,
].join("|");

const START = "(?<![A-Za-z0-9])";
const TOKEN = anyOf("api_key", ({ secret }) => boundedRepeats(secret, LONGEST));
const WEB_TOKEN = anyOf("jwt", ({ secret }) => boundedRepeats(secret, 8192));
const AUTHORIZATION = anyOf("authorization", ({ lead = "" }) => lead);

/** Regular expressions in their order; the group `double`, `single` or `bare` is replaced, or else the whole match. */
const SHAPES: readonly (readonly [SecretKind, RegExp])[] = [
  [
    "private_key",
    new RegExp(`-----${PRIVATE_KEY}-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?`, "g"),
  ],
  ["jwt", new RegExp(`(?<![\\w.-])${WEB_TOKEN}`, "g")],
  ["api_key", new RegExp(`${START}${TOKEN}`, "g")],
  ["authorization", new RegExp(`${START}${AUTHORIZATION}(?<bare>[^\\s"'\\\\,;]{4,${LONGEST}})`, "gi")],
  ["bearer", new RegExp(`${START}${anyOf("bearer", led)}`, "gi")],
  ["url_password", new RegExp(`${START}${anyOf("url_password", led)}`, "gi")],
  ["url_signature", new RegExp(anyOf("url_signature", led), "gi")],
  [
    "assignment",
    new RegExp(`${anyOf("assignment", ({ before = "", lead = "" }) => before + lead)}(?:${VALUE})`, "gi"),
  ],
  ["jwt", new RegExp(`${AFTER_ESCAPE}${WEB_TOKEN}`, "g")],
  ["api_key", new RegExp(`${AFTER_ESCAPE}${TOKEN}`, "g")],
];

function anyOf(kind: SecretKind, sourceOf: (row: SecretPattern) => string): string {
  return `(?:${patternsOf(kind).map(sourceOf).join("|")})`;
}

function led({ before = "", lead = "", secret }: SecretPattern): string {
  return `${before}${lead}(?<bare>${boundedRepeats(secret, LONGEST)})`;
}

/** `text` without its secrets, and how many of each kind there were. */
export function redactText(text: string): { readonly text: string; readonly counts: SecretCounts } {
  const counts: SecretCounts = {};
  let result = text;
  for (const [kind, shape] of SHAPES) {
    result = result.replace(shape, (...match) => {
      const whole = match[0] as string;
      const groups = typeof match.at(-1) === "object"
        ? match.at(-1) as Record<string, string | undefined>
        : {};
      const bare = groups.bare;
      const secret = groups.double ?? groups.single ?? bare ?? whole;
      if (
        /^\[redacted(?: \w+\])?$/.test(secret) || isFiller(secret) ||
        kind === "assignment" && (isPlainJson(whole, bare) || !isAssignedSecret(match))
      ) return whole;
      counts[kind] = (counts[kind] ?? 0) + 1;
      // Valid inside any JSON string.
      return `${whole.slice(0, whole.length - secret.length)}[redacted ${kind}]`;
    });
  }
  return { text: result, counts };
}

function isFiller(secret: string): boolean {
  return secret.length >= FILLER.length &&
    FILLER.repeat(secret.length / FILLER.length + 1).startsWith(secret);
}

/** Longest name that is read as a whole. */
const LONGEST_NAME = 96;

/** True if the name before a value, which a pattern knows only by its end, is that of a secret. */
function isAssignedSecret(match: readonly unknown[]): boolean {
  const [text, at] = [match.findLast((each) => typeof each === "string"), match.findLast(Number.isInteger)];
  const [whole, offset] = [String(match[0]), Number(at)];
  const rest = /^[\w-]+/.exec(whole)?.[0] ?? "";
  const end = offset + rest.length;
  return isSecretName(nameAtEnd(String(text).slice(Math.max(0, end - LONGEST_NAME), end)));
}

/** A number or word of JSON after a colon is no secret, and text in its place would break the JSON around it. */
function isPlainJson(whole: string, bare: string | undefined): boolean {
  if (bare === undefined || whole.slice(0, whole.length - bare.length).includes("=")) return false;
  return /^(?:null|true|false|-?\d[\d.eE+-]*)$/.test(bare);
}

/** Adds `more` to `counts`. */
export function addCounts(counts: SecretCounts, more: SecretCounts): void {
  for (const [kind, count] of Object.entries(more) as [SecretKind, number][]) {
    counts[kind] = (counts[kind] ?? 0) + count;
  }
}

/** Number of secrets in all. */
export function totalCount(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** A text is cut after a line once so much of it waits, in UTF-16 units; a longer line is cut anywhere. */
const WINDOW = 256 * 1024;
const LONGEST_LINE = 8 * 1024 * 1024;
/** Longest private key that is waited for. */
const LONGEST_KEY = 32 * 1024;

/** Redacts a text that comes in pieces, and holds at most one line of it. */
export class RedactingStream {
  readonly counts: SecretCounts = {};
  #held = "";

  /** Returns the redacted text that later pieces cannot change; the rest waits. */
  feed(piece: string): string {
    this.#held += piece;
    return this.#held.length < WINDOW ? "" : this.#take(cutOf(this.#held));
  }

  /** The rest. */
  end(): string {
    return this.#take(this.#held.length);
  }

  #take(length: number): string {
    const { text, counts } = redactText(this.#held.slice(0, length));
    this.#held = this.#held.slice(length);
    addCounts(this.counts, counts);
    return text;
  }
}

function cutOf(text: string): number {
  const line = text.lastIndexOf("\n") + 1;
  if (line === 0) return text.length < LONGEST_LINE ? 0 : text.length;
  const key = text.lastIndexOf("-----BEGIN", line);
  const open = key !== -1 && line - key < LONGEST_KEY && !text.slice(key, line).includes("-----END");
  return open ? key : line;
}

/**
 * Secrets in texts: found by the shapes that keys and tokens have, and by the names of what they are assigned to.
 * All patterns take time linear in the text: each begins where a token begins, and repeats are bounded.
 *
 * @module
 */

/** What a secret was recognised by. */
export type SecretKind =
  | "private_key"
  | "authorization"
  | "bearer"
  | "api_key"
  | "jwt"
  | "url_password"
  | "assignment"
  /** By its value: see {@linkcode KnownSecrets}. */
  | "known";

/** How many secrets of each kind were replaced; kinds without any are absent. */
export type SecretCounts = Partial<Record<SecretKind, number>>;

/** Replaces secrets whose values are known, each by text of its own length, and counts them. */
export interface KnownSecrets {
  /** Number of secrets replaced so far. */
  readonly counts: { readonly known?: number };
  text(text: string): string;
  /** The bytes of a text that comes in pieces; what it returns is good until the next call. */
  stream(): { feed(bytes: Uint8Array): Uint8Array; end(): Uint8Array };
}

/** The text that replaces known secrets, over and over again. */
const FILLER = "REDACTED";

/** What stands where a secret was. It may stand inside any JSON string. */
export function mark(kind: SecretKind): string {
  return `[redacted ${kind}]`;
}

interface Pattern {
  readonly kind: SecretKind;
  /** The group `secret` is what goes; without it the whole match. */
  readonly shape: RegExp;
}

/** Quotes as they stand in code, and in code that stands in a JSON string. */
const QUOTES = `["'\\\\]{0,4}`;
const SEPARATOR = `${QUOTES}\\s{0,4}[=:]\\s{0,4}`;
/** A quoted value goes up to its closing quote, any other up to what cannot be part of a token. */
const VALUE = `(?:\\\\?"(?<double>[^"\\\\\\n]{1,4096})|\\\\?'(?<single>[^'\\\\\\n]{1,4096})|` +
  `(?<bare>[^\\s"'\\\\,;&)}\\]]{3,4096}))`;

/** The shapes by which services make their tokens known, as sources of regular expressions. */
export const TOKENS: readonly string[] = [
  "sk-[A-Za-z0-9_-]{8,}",
  "[rs]k_(?:live|test)_[A-Za-z0-9]{8,}",
  "gh[pousr]_[A-Za-z0-9]{16,}",
  "github_pat_[A-Za-z0-9_]{16,}",
  "glpat-[A-Za-z0-9_-]{16,}",
  "xox[abeprs]-[A-Za-z0-9-]{10,}",
  "(?:AKIA|ASIA)[0-9A-Z]{16}",
  "AIza[0-9A-Za-z_-]{30,}",
  "ya29\\.[0-9A-Za-z_-]{16,}",
  "npm_[A-Za-z0-9]{30,}",
  "pypi-[A-Za-z0-9_-]{32,}",
  "hf_[A-Za-z0-9]{20,}",
];

/** An endless repeat of a long text would run out of stack; no token is longer. */
const BOUNDED_TOKENS = TOKENS.join("|").replaceAll(",}", ",4096}");

const PATTERNS: readonly Pattern[] = [
  {
    kind: "private_key",
    shape: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  },
  { kind: "jwt", shape: /(?<![\w.-])eyJ[\w-]{8,8192}\.[\w-]{8,8192}\.[\w-]{8,8192}/g },
  { kind: "api_key", shape: new RegExp(`(?<![A-Za-z0-9])(?:${BOUNDED_TOKENS})`, "g") },
  {
    kind: "authorization",
    shape: new RegExp(
      `(?<![A-Za-z0-9])authorization${SEPARATOR}${QUOTES}(?:(?:bearer|basic|token|digest)\\s{1,4})?` +
        `(?<bare>[^\\s"'\\\\,;]{4,4096})`,
      "gi",
    ),
  },
  // A token has a digit, or is longer than words are.
  {
    kind: "bearer",
    shape:
      /(?<![A-Za-z0-9])bearer\s{1,4}(?<bare>(?=[A-Za-z._~+/=-]{0,64}\d|[A-Za-z._~+/=-]{24})[\w.~+/=-]{8,4096})/gi,
  },
  {
    kind: "url_password",
    shape:
      /(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'\\]{0,100}:(?<bare>[^\s/@"'\\]{1,200})(?=@)/gi,
  },
  {
    kind: "assignment",
    shape: new RegExp(
      `(?<![A-Za-z0-9_])[A-Z0-9_]{0,64}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)${SEPARATOR}${VALUE}`,
      "g",
    ),
  },
  {
    kind: "assignment",
    shape: new RegExp(
      `(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9]{1,32}[_-]){1,4}(?:key|token|secret|password)|` +
        `(?:api|account|(?:shared)?access)_?key|passwd|password|secret|token)${SEPARATOR}${VALUE}`,
      "gi",
    ),
  },
];

/** `text` without its secrets, and how many of each kind there were. */
export function redactText(text: string): { readonly text: string; readonly counts: SecretCounts } {
  const counts: SecretCounts = {};
  let result = text;
  for (const { kind, shape } of PATTERNS) {
    result = result.replace(shape, (...match) => {
      const whole = match[0] as string;
      const groups = typeof match.at(-1) === "object"
        ? match.at(-1) as Record<string, string | undefined>
        : {};
      const bare = groups.bare;
      const secret = groups.double ?? groups.single ?? bare ?? whole;
      if (
        secret.startsWith("[redacted") || isFiller(secret) ||
        kind === "assignment" && isPlainJson(whole, bare)
      ) return whole;
      counts[kind] = (counts[kind] ?? 0) + 1;
      return `${whole.slice(0, whole.length - secret.length)}${mark(kind)}`;
    });
  }
  return { text: result, counts };
}

function isFiller(secret: string): boolean {
  return secret.length >= FILLER.length &&
    FILLER.repeat(secret.length / FILLER.length + 1).startsWith(secret);
}

/** A number or word of JSON after a colon is no secret, and text in its place would break the JSON around it. */
function isPlainJson(whole: string, bare: string | undefined): boolean {
  if (bare === undefined || whole.slice(0, whole.length - bare.length).includes("=")) return false;
  return /^(?:null|true|false|-?\d[\d.eE+-]*|[[{].*)$/.test(bare);
}

/** Adds `more` to `counts`. */
export function addCounts(counts: SecretCounts, more: SecretCounts): void {
  for (const [kind, count] of Object.entries(more) as [SecretKind, number][]) {
    counts[kind] = (counts[kind] ?? 0) + count;
  }
}

/** How many secrets there are in all. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** A text is cut behind a line once so much of it waits, in UTF-16 units; a longer line where it must be. */
const WINDOW = 256 * 1024;
const LONGEST_LINE = 8 * 1024 * 1024;
/** How long a private key may be that is waited for. */
const LONGEST_KEY = 32 * 1024;

/** Redacts a text that comes in pieces, and holds no more of it than a line. */
export class RedactingStream {
  readonly counts: SecretCounts = {};
  #held = "";

  /** What can be said of the text so far; the rest waits. */
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

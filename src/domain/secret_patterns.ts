/**
 * Shapes of secrets, one row for each: the only place that knows them. Recording, linting and redacting fixtures
 * look for these shapes in bytes, `export --redact` in text, messages of servers lose their keys, and an environment
 * variable with such a value is secret. Each of them has a search of its own, with bounds of its own.
 */

/** Kinds of secrets that are known by their shape. */
export type SecretKind =
  | "private_key"
  | "authorization"
  | "bearer"
  | "api_key"
  | "jwt"
  | "url_password"
  | "url_signature"
  | "assignment";

/** For each of the first four bytes, the characters that it may be. */
export type SecretStart = readonly [string, string, string, string];

/** One shape. Sources of regular expressions; a repeat without an end is bounded by {@linkcode boundedRepeats}. */
export interface SecretPattern {
  readonly kind: SecretKind;
  /** Origin of such a secret. */
  readonly name: string;
  /** Text directly before the lead, which is kept, such as the scheme of a URL. @default {""} */
  readonly before?: string;
  /** Beginning of the match, which is kept; upper or lower case, such as `bearer` and spaces. @default {""} */
  readonly lead?: string;
  /** The secret. Empty after a name: the value that is assigned to it, which each search delimits itself. */
  readonly secret: string;
  /** First four characters after `before`; none if the shape is looked for in text only. */
  readonly starts: readonly SecretStart[];
  /** True if only messages of servers hold it. @default {false} */
  readonly inMessages?: boolean;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const WORD = `${LETTERS}0123456789_-`;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(index + 32)).join("");

/** Quotes in code, and in code in a string of JSON in a string of JSON. */
export const QUOTES = `[\\\\"']{0,8}`;
/** Characters between a name and the beginning of its value's quotes. */
export const ASSIGNS = `${QUOTES}\\s{0,4}[=:]\\s{0,4}`;
/** Number of one of several, after a name. */
export const NUMBER = "(?:[_-]?\\d{1,3})?";
/** The place after an escape of JSON or of a URL: a token begins there, whatever letters the escape ends with. */
export const AFTER_ESCAPE = "(?<=\\\\[nrtbf]|\\\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})";
/** Names of authorization schemes before a key. */
export const SCHEMES = "bearer|basic|token|digest";
/** Ends of names whose values may be secrets, in any case: `isSecretName` judges the whole name. */
const SECRET_NAMES = [
  "token",
  "secret",
  "password",
  "passwd",
  "apikey",
  "accountkey",
  "accesskey",
  "_key",
  "-key",
] as const;

/** Begins a private key in PEM; what follows may say its format. */
export const PRIVATE_KEY = "BEGIN [A-Z ]{0,40}PRIVATE KEY";

/** The row of an API key that a service marks by its first characters. */
function token(name: string, secret: string, starts: readonly SecretStart[]): SecretPattern {
  return { kind: "api_key", name, secret, starts };
}

/** All shapes. */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  {
    kind: "private_key",
    name: "private key in PEM",
    before: "-----",
    lead: `${PRIVATE_KEY}-----`,
    secret: "(?:[\\w+/=\\s\\\\:,.]|-(?!-)){1,}",
    starts: [["B", "E", "G", "I"]],
  },
  {
    kind: "jwt",
    name: "JSON web token",
    secret: "eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]{8,}",
    starts: [["e", "y", "J", WORD]],
  },
  token("OpenAI, Anthropic and compatible servers", "sk-[A-Za-z0-9_-]{8,}", [["s", "k", "-", WORD]]),
  token("Stripe", "[rs]k_(?:live|test)_[A-Za-z0-9]{8,}", [["rs", "k", "_", "lt"]]),
  token("GitHub", "gh[pousr]_[A-Za-z0-9]{16,}", [["g", "h", "pousr", "_"]]),
  token("GitHub, fine-grained", "github_pat_[A-Za-z0-9_]{16,}", [["g", "i", "t", "h"]]),
  token("GitLab", "glpat-[A-Za-z0-9_-]{16,}", [["g", "l", "p", "a"]]),
  token("Slack", "xox[abeprs]-[A-Za-z0-9-]{10,}", [["x", "o", "x", "abeprs"]]),
  token("AWS", "(?:AKIA|ASIA)[0-9A-Z]{16}", [["A", "KS", "I", "A"]]),
  token("Google", "AIza[0-9A-Za-z_-]{30,}", [["A", "I", "z", "a"]]),
  token("Google OAuth", "ya29\\.[0-9A-Za-z_-]{16,}", [["y", "a", "2", "9"]]),
  token("npm", "npm_[A-Za-z0-9]{30,}", [["n", "p", "m", "_"]]),
  token("PyPI", "pypi-[A-Za-z0-9_-]{32,}", [["p", "y", "p", "i"]]),
  token("Hugging Face", "hf_[A-Za-z0-9]{20,}", [["h", "f", "_", WORD]]),
  {
    kind: "api_key",
    name: "key that a server repeats, masked or not",
    secret: "(?:sk|rk|pk|gsk|xai)-[\\w*.-]{6,}",
    starts: [],
    inMessages: true,
  },
  {
    kind: "authorization",
    name: "value of an authorization header",
    lead: `authorization${ASSIGNS}${QUOTES}(?:(?:${SCHEMES})\\s{1,4})?`,
    secret: "",
    starts: [anyCase("auth")],
  },
  {
    kind: "bearer",
    name: "token after the word bearer",
    lead: "bearer\\s{1,4}",
    // A token has a digit, or is longer than words are.
    secret: "(?=[A-Za-z._~+/=-]{0,64}\\d|[A-Za-z._~+/=-]{24})[\\w.~+/=-]{8,}",
    starts: [anyCase("bear")],
  },
  {
    kind: "url_password",
    name: "password in a URL",
    before: "[A-Za-z][A-Za-z0-9+.-]{1,20}",
    lead: `:(?:\\\\{0,3}/){2}[^\\s/:@"'\\\\]{0,100}:`,
    secret: `[^\\s/@"'\\\\]{1,200}(?=@)`,
    starts: [[":", "/", "/", PRINTABLE], [":", "\\", "/", "\\"]],
  },
  {
    kind: "url_signature",
    name: "signature of a URL",
    // The character before a parameter may be escaped, in JSON, HTML or in another URL.
    lead: `(?:(?<=(?:[?&;]|\\\\u00(?:26|3f)|%(?:25)*(?:26|3f))(?:X-(?:Amz|Goog)-)?Signa)ture|` +
      `(?<=[?&;]|\\\\u00(?:26|3f)|%(?:25)*(?:26|3f))sig)(?:=|\\\\u003d|%(?:25)*3d)`,
    secret: "(?:[\\w.~+/%-]|\\\\{1,3}/){16,}",
    starts: ["sig=", "sig%", "sig\\", "ture"].map(anyCase),
  },
  {
    kind: "assignment",
    name: "value of a member, variable or header that is named like a secret",
    // In bytes a name is found by its last four characters.
    lead: `(?:${
      SECRET_NAMES.map((name) => `(?<=${name.slice(0, -4)})${name.slice(-4)}`).join("|")
    })${NUMBER}${ASSIGNS}`,
    secret: "",
    starts: SECRET_NAMES.map((name) => anyCase(name.slice(-4))),
  },
  {
    kind: "assignment",
    name: "value of a variable in capitals that ends with KEY",
    before: "(?<![A-Za-z0-9_])(?-i:[A-Z0-9_]{0,64})",
    lead: `(?-i:KEY)${NUMBER}${ASSIGNS}`,
    secret: "",
    starts: [],
  },
];

/** Rows of these kinds, but for those of messages. */
export function patternsOf(...kinds: readonly SecretKind[]): readonly SecretPattern[] {
  return SECRET_PATTERNS.filter(({ kind, inMessages }) => kinds.includes(kind) && inMessages !== true);
}

/** A source whose endless repeats end after `longest`: an endless repeat of a long text would run out of stack. */
export function boundedRepeats(source: string, longest: number): string {
  return source.replaceAll(",}", `,${longest}}`);
}

/** For each of four characters, itself in lower and upper case. */
export function anyCase(text: string): SecretStart {
  const [a = "", b = "", c = "", d = ""] = [...text].map((char) =>
    [...new Set([char, char.toUpperCase()])].join("")
  );
  return [a, b, c, d];
}

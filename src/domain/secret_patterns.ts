/**
 * Shapes of secrets, one row for each: the only place that knows them. Recording, linting and redacting fixtures
 * look for these shapes in bytes, `export --redact` in text, messages of servers lose their keys, and an environment
 * variable with such a value is secret. Each of them has a search of its own, with bounds of its own.
 *
 * @module
 */

/** Kinds of secrets that are known by their shape. */
export type SecretKind =
  | "private_key"
  | "authorization"
  | "bearer"
  | "api_key"
  | "jwt"
  | "url_password"
  | "assignment";

/** For each of the first four bytes, the characters that it may be. */
export type SecretStart = readonly [string, string, string, string];

/** One shape. Sources of regular expressions; a repeat without an end is bounded by {@linkcode bounded}. */
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
  /** Texts with one secret each, between « and ». All of it is made up. */
  readonly found: readonly string[];
  /** Texts that look like it and hold no secret. */
  readonly kept: readonly string[];
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const WORD = `${LETTERS}0123456789_-`;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(index + 32)).join("");

/** Quotes in code, and in code in a string of JSON in a string of JSON. */
export const QUOTES = `[\\\\"']{0,8}`;
/** Characters between a name and the beginning of its value's quotes. */
export const ASSIGNS = `${QUOTES}\\s{0,4}[=:]\\s{0,4}`;
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
function token(
  name: string,
  secret: string,
  starts: readonly SecretStart[],
  { found, kept = [] }: { readonly found: readonly string[]; readonly kept?: readonly string[] },
): SecretPattern {
  return { kind: "api_key", name, secret, starts, found, kept };
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
    found: ["-----BEGIN RSA PRIVATE KEY-----\n«MIIEabcd»\n-----END RSA PRIVATE KEY-----\n"],
    kept: ["-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"],
  },
  {
    kind: "jwt",
    name: "JSON web token",
    secret: "eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]{8,}",
    starts: [["e", "y", "J", WORD]],
    found: [
      "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz»",
      '"«eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl»"',
    ],
    kept: ["eyJhbGciOiJIUzI1NiJ9 is the header of a token"],
  },
  token("OpenAI, Anthropic and compatible servers", "sk-[A-Za-z0-9_-]{8,}", [["s", "k", "-", WORD]], {
    found: ["use «sk-proj-abc123DEF456» now", "«sk-ant-api03-abcdefgh» now", "«sk-abcdefghij» now"],
    kept: ["a task-force-for-2026 on disk-usage-reports"],
  }),
  token("Stripe", "[rs]k_(?:live|test)_[A-Za-z0-9]{8,}", [["rs", "k", "_", "lt"]], {
    found: ["«sk_live_abcd1234» and", "«rk_test_abcd1234»"],
    kept: ["rs_0123456789abcdef", "sk_lively"],
  }),
  token("GitHub", "gh[pousr]_[A-Za-z0-9]{16,}", [["g", "h", "pousr", "_"]], {
    found: ["«ghp_abcdefghijklmnop1234»", '{"a":"x\\n«ghp_abcdefghijklmnop1234»"}'],
    kept: ["ghp_short"],
  }),
  token("GitHub, fine-grained", "github_pat_[A-Za-z0-9_]{16,}", [["g", "i", "t", "h"]], {
    found: ["«github_pat_abcdefghijkl_mnop1234»"],
    kept: ["github.com/a/github_pat"],
  }),
  token("GitLab", "glpat-[A-Za-z0-9_-]{16,}", [["g", "l", "p", "a"]], {
    found: ["«glpat-abcdefghijkl-mnop_1»"],
  }),
  token("Slack", "xox[abeprs]-[A-Za-z0-9-]{10,}", [["x", "o", "x", "abeprs"]], {
    found: ["«xoxb-1234567890-abc»"],
  }),
  token("AWS", "(?:AKIA|ASIA)[0-9A-Z]{16}", [["A", "KS", "I", "A"]], {
    found: ["k=«AKIAABCDEFGHIJKLMNOP»;", "«ASIAABCDEFGHIJKLMNOP»"],
    kept: ["AKIAabcdefghijklmnop"],
  }),
  token("Google", "AIza[0-9A-Za-z_-]{30,}", [["A", "I", "z", "a"]], {
    found: ["«AIzaabcdefghijklmnopqrstuvwxyz0123456789»"],
    kept: ["AIzabc"],
  }),
  token("Google OAuth", "ya29\\.[0-9A-Za-z_-]{16,}", [["y", "a", "2", "9"]], {
    found: ["«ya29.abcdefghijklmnop-1»"],
  }),
  token("npm", "npm_[A-Za-z0-9]{30,}", [["n", "p", "m", "_"]], {
    found: ["«npm_abcdefghijklmnopqrstuvwxyz012345»"],
    kept: ["npm_config_cache"],
  }),
  token("PyPI", "pypi-[A-Za-z0-9_-]{32,}", [["p", "y", "p", "i"]], {
    found: ["«pypi-abcdefghijklmnopqrstuvwxyz012345»"],
    kept: ["pypi-mirror"],
  }),
  token("Hugging Face", "hf_[A-Za-z0-9]{20,}", [["h", "f", "_", WORD]], {
    found: ["«hf_abcdefghijklmnopqrst1»"],
    kept: ["hf_hub_download"],
  }),
  {
    kind: "api_key",
    name: "key that a server repeats, masked or not",
    secret: "(?:sk|rk|pk|gsk|xai)-[\\w*.-]{6,}",
    starts: [],
    inMessages: true,
    found: ["Incorrect API key provided: «sk-abc12***xyz9»", "key «gsk-abcdef» is unknown", "«xai-abc.def»"],
    kept: ["task-force-for-2026"],
  },
  {
    kind: "authorization",
    name: "value of an authorization header",
    lead: `authorization${ASSIGNS}${QUOTES}(?:(?:${SCHEMES})\\s{1,4})?`,
    secret: "",
    starts: [anyCase("auth")],
    found: [
      "curl -H 'Authorization: Bearer «abcd1234»'",
      "authorization: «abcd1234efgh»",
      "Authorization: Basic «dXNlcjpwYXNz»",
      '{"authorization":"Bearer «abcd1234»"}',
      '{\\"Authorization\\": \\"Bearer «abcd1234»\\"}',
    ],
    kept: ["authorization was given"],
  },
  {
    kind: "bearer",
    name: "token after the word bearer",
    lead: "bearer\\s{1,4}",
    // A token has a digit, or is longer than words are.
    secret: "(?=[A-Za-z._~+/=-]{0,64}\\d|[A-Za-z._~+/=-]{24})[\\w.~+/=-]{8,}",
    starts: [anyCase("bear")],
    found: ["the bearer «abcdef1234567890» came", "Bearer «abcdefghijklmnopqrstuvwxyz»"],
    kept: ["the bearer of bad news", "bearer authentication"],
  },
  {
    kind: "url_password",
    name: "password in a URL",
    before: "[A-Za-z][A-Za-z0-9+.-]{1,20}",
    lead: `:(?:\\\\{0,3}/){2}[^\\s/:@"'\\\\]{0,100}:`,
    secret: `[^\\s/@"'\\\\]{1,200}(?=@)`,
    starts: [[":", "/", "/", PRINTABLE], [":", "\\", "/", "\\"]],
    found: ["postgres://me:«hunter2»@db/x", "postgres:\\/\\/me:«hunter2»@db"],
    kept: ["https://example.com:8080/path@2x.png", "https://me@example.com/"],
  },
  {
    kind: "assignment",
    name: "value of a member, variable or header that is named like a secret",
    // In bytes a name is found by its last four characters.
    lead: `(?:${
      SECRET_NAMES.map((name) => `(?<=${name.slice(0, -4)})${name.slice(-4)}`).join("|")
    })${ASSIGNS}`,
    secret: "",
    starts: SECRET_NAMES.map((name) => anyCase(name.slice(-4))),
    found: [
      "OPENAI_API_KEY=«abcdef12»",
      '"client_secret": "«abc12def»", "x"',
      '{\\"api_token\\":\\"«abc12def»\\"}',
      "password=«hunter22»;",
      "AccountName=a;AccountKey=«Ab1+/cd==»;Suffix=x",
      "SharedAccessKeyName=Root;SharedAccessKey=«ab12345=»",
      '{\\"accessToken\\":\\"«abc12def»\\"}',
      '{"a":"x\\napi_key=«abc12def»"}',
      '"token": "«abc12def»"',
      "ACME_TOKEN=«abc12def»",
      "refresh_token=«abc12def»",
      "x-functions-key: «abc12def»",
    ],
    kept: [
      "key: value",
      '{"max_output_tokens":4096,"api_key":null,"is_secret":true,"token":[1]}',
      '{"nextPageToken":"abc12def34","page_token":"abc12def34","continuationToken":"abc12def34"}',
      '{"agent_key":"0f1e2d3c4b5a6978","task_key":"0f1e2d3c4b5a6978","primary_key":"abc12def"}',
      '{\\"nextPageToken\\":\\"abc12def34\\"}',
      "x-ratelimit-key: gpt-5.2_2025-12-11",
    ],
  },
  {
    kind: "assignment",
    name: "value of a variable in capitals that ends with KEY",
    before: "(?<![A-Za-z0-9_])(?-i:[A-Z0-9_]{0,64})",
    lead: `(?-i:KEY)${ASSIGNS}`,
    secret: "",
    starts: [],
    found: ["export MYKEY=«abcdef12»"],
    kept: ["monkey: business", "export MONKEY=abcdef12"],
  },
];

/** Rows of these kinds, but for those of messages. */
export function patternsOf(...kinds: readonly SecretKind[]): readonly SecretPattern[] {
  return SECRET_PATTERNS.filter(({ kind, inMessages }) => kinds.includes(kind) && inMessages !== true);
}

/** A source whose endless repeats end after `longest`: an endless repeat of a long text would run out of stack. */
export function bounded(source: string, longest: number): string {
  return source.replaceAll(",}", `,${longest}}`);
}

/** For each of four characters, itself in lower and upper case. */
export function anyCase(text: string): SecretStart {
  const [a = "", b = "", c = "", d = ""] = [...text].map((char) =>
    [...new Set([char, char.toUpperCase()])].join("")
  );
  return [a, b, c, d];
}

/**
 * Names of secrets: the only list of them for headers, members, variables and parameters. A name is split into words, and
 * its last words decide, so `accessToken` and `X-Auth-Token` name secrets and `nextPageToken` does not.
 *
 * @module
 */

/** Last words of a name whose value is a secret. */
const SECRET_WORDS: readonly string[] = [
  ...["password", "passwd", "passphrase", "pwd", "pass", "secret", "credential", "credentials"],
  ...["token", "auth", "authorization", "bearer", "cookie", "jwt"],
  // A key of any other kind identifies something, such as a row, a cache or an agent.
  ...["api", "access", "account", "admin", "auth", "client", "consumer", "deploy", "encryption", "functions"]
    .map((kind) => `${kind} key`),
  ...[
    "license",
    "master",
    "private",
    "secret",
    "security",
    "service",
    "shared",
    "signing",
    "ssh",
    "subscription",
  ]
    .map((kind) => `${kind} key`),
  ...["apikey", "accesskey", "accountkey", "secretkey", "privatekey", "authkey"],
];

/** Words before `token` for places in a list, and for words of a model. */
const OTHER_TOKENS: ReadonlySet<string> = new Set([
  ...["next", "page", "previous", "prev", "continuation", "sync", "cursor", "start", "end", "pagination"],
  ...[
    "max",
    "min",
    "input",
    "output",
    "prompt",
    "completion",
    "cached",
    "reasoning",
    "total",
    "first",
    "last",
  ],
  ...["stop", "eos", "bos", "pad", "unk", "mask", "special", "per", "cancellation", "resume"],
]);

/** Words that no other word ends with, so that `PGPASSWORD` names a secret too. */
const UNMISTAKABLE =
  /(?:password|passwd|passphrase|apikey|accesskey|accountkey|secretkey|accesstoken|authtoken)$/;
const SECRET_ENDS: ReadonlySet<string> = new Set(SECRET_WORDS);
/** Names of passwords, whose values need not look like a key. */
const PASSWORD = /(?:password|passwd|passphrase|pwd)$/;
/** A variable in capitals that ends with KEY, such as `MISTRAL_KEY`. */
const KEY_VARIABLE = /^(?:[A-Z][A-Z0-9]*_)*[A-Z0-9]*KEY$/;

/** Names whose values are secrets, and names that only resemble them. */
export const NAME_EXAMPLES: { readonly secret: readonly string[]; readonly other: readonly string[] } = {
  secret: [
    ...[
      "password",
      "dbPassword",
      "PGPASSWORD",
      "user_passwd",
      "passphrase",
      "client_secret",
      "X-Tenant-Secret",
    ],
    ...["token", "accessToken", "x-auth-token", "x-amz-security-token", "refresh_token", "GITHUB_TOKEN"],
    ...[
      "api_key",
      "apiKey",
      "x-api-key",
      "MYAPIKEY",
      "AccountKey",
      "SharedAccessKey",
      "secretKey",
      "private-key",
    ],
    ...[
      "ocp-apim-subscription-key",
      "x-functions-key",
      "authorization",
      "helicone-auth",
      "MISTRAL_KEY",
      "MYKEY",
    ],
  ],
  other: [
    ...[
      "nextPageToken",
      "next_token",
      "page_token",
      "continuationToken",
      "syncToken",
      "max_tokens",
      "tokens",
    ],
    ...[
      "tokenizer",
      "stop_token",
      "agent_key",
      "x-ratelimit-key",
      "cache_key",
      "sort-key",
      "primaryKey",
      "key",
    ],
    ...["idempotency-key", "sec-websocket-key", "monkey", "keyboard", "author", "secretary", "password_hint"],
  ],
};

/** True for a name whose value is a secret. */
export function isSecretName(name: string): boolean {
  if (KEY_VARIABLE.test(name)) return true;
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  if (UNMISTAKABLE.test(last)) return true;
  if (last === "token") return !OTHER_TOKENS.has(words.at(-2) ?? "");
  return SECRET_ENDS.has(last) || SECRET_ENDS.has(words.slice(-2).join(" "));
}

/** True for the name of a password: any value of it is a secret. */
export function isPasswordName(name: string): boolean {
  return PASSWORD.test(wordsOf(name).at(-1) ?? "");
}

/** Splits a name at separators and capitals; the words are in lower case. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

const QUOTE_MARKS = "\\\"'";
const SPACES = " \t\r\n";
/** Most characters of a name. */
const LONGEST_NAME = 64;

/** Returns the name before a value, in a text that ends where the value begins; empty if there is none. */
export function nameBefore(text: string): string {
  // A regular expression would try each place of the text.
  let at = text.length;
  const skip = (characters: string, most: number) => {
    for (let left = most; left > 0 && at > 0 && characters.includes(text[at - 1] ?? ""); left--) at--;
  };
  skip(QUOTE_MARKS, 8);
  skip(SPACES, 4);
  const assigned = at;
  skip("=:", 1);
  if (at === assigned) return "";
  skip(SPACES, 4);
  skip(QUOTE_MARKS, 8);
  const end = at;
  while (at > 0 && end - at < LONGEST_NAME && /[\w.-]/.test(text[at - 1] ?? "")) at--;
  const name = text.slice(at, end);
  // The first letter after a backslash belongs to the escape.
  return text[at - 1] === "\\" ? name.replace(/^(?:n|r|t|b|f|u[0-9a-fA-F]{4})/, "") : name;
}

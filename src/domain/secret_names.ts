/**
 * Names of secrets, word by word: the only place that knows them. Members of bodies, parameters, headers and
 * environment variables are judged by them.
 */

/** Words that end the name of a secret, whatever comes before them. */
const PASSWORD_WORDS = "password passwd passphrase secret credential pass pwd pw cred";
const SECRET_WORDS = `${PASSWORD_WORDS} authorization auth oauth bearer cookie jwt pat dsn sig sk`;
/** Vendors: a key or token after one of these is a secret. */
const VENDORS = "openai anthropic azure aws google gemini groq mistral cohere openrouter deepseek together " +
  "fireworks perplexity hf github gitlab slack stripe npm pypi twilio sendgrid datadog";
/** Words that make a secret of the word `key`. */
const BEFORE_KEY =
  `${VENDORS} api access account secret private subscription function functions master service signing ` +
  "encryption deploy license auth shared ssh admin root client server jwt";
/** Words that make a secret of the word `token`. */
const BEFORE_TOKEN =
  `${VENDORS} access refresh auth authentication api id identity bearer session security bot oauth csrf xsrf ` +
  "personal client user admin service app application deploy registry device secret jwt sas vault";
/** Words that make something else of the words `key` and `token`, also in a header or variable. */
const ORDINARY =
  "page next continuation sync cancel resume max min input output total reset remaining ratelimit limit cache idempotency partition sort surrogate " +
  "websocket socket primary foreign public object map hot agent task crew trace";
/** Names that are secrets as a whole, also after `x`; as the end of another name, the words before them decide. */
const WHOLE = "key token";

const split = (words: string) => words.split(" ");
const SECRET_ENDINGS: ReadonlySet<string> = new Set([
  ...split(SECRET_WORDS),
  ...split(BEFORE_KEY).map((word) => `${word}key`),
  ...split(BEFORE_TOKEN).map((word) => `${word}token`),
]);
const WHOLE_NAMES: ReadonlySet<string> = new Set(split(WHOLE).flatMap((word) => [word, `x${word}`]));
const PASSWORDS: ReadonlySet<string> = new Set(split(PASSWORD_WORDS));
const ORDINARY_WORDS: ReadonlySet<string> = new Set(split(ORDINARY));
/** Ends of one word that say the same without a separator, such as `PGPASSWORD`: no other word ends so. */
const GLUED_PASSWORD = /(?:password|passwd|passphrase|secret)$/;
const GLUED =
  /(?:password|passwd|passphrase|secret|apikey|secretkey|accesskey|accountkey|accesstoken|authtoken)$/;
/** The same of names that belong to the sender: a variable may be `MYKEY`. */
const GLUED_KEY = /(?<!^(?:don|hoc|hot|joc|mon|tur|whis))key$|.token$/;
const PLURAL = /(key|token|secret|password|credential|cookie|cred)s$/;

/**
 * True for the name of a secret: `api_key`, `accessToken`; neither `nextPageToken` nor `agent_key`. A name in capitals is
 * that of a variable.
 */
export function isSecretName(name: string): boolean {
  const known = JUDGED.get(name);
  if (known !== undefined) return known;
  const judged = endsAsSecret(wordsOf(name)) || name === name.toUpperCase() && secretKindOf(name) !== null;
  if (JUDGED.size === MOST_JUDGED) JUDGED.clear();
  JUDGED.set(name, judged);
  return judged;
}

/** Verdicts on names that were judged last: a body repeats a few names. */
const JUDGED = new Map<string, boolean>();
const MOST_JUDGED = 256;

/**
 * True for the name of a header or a member that holds a secret, if its value is only looked for: also for any other
 * `key` and `token`, such as `x-acme-key`; not for `x-ratelimit-key`.
 */
export function isCredentialName(name: string): boolean {
  return endsAsCredential(wordsOf(name));
}

/**
 * Kind of secret in a variable by the words of its name, wherever they are: `password` if any value is secret, `key` if
 * only values that are no ordinary words are; `null` for other names.
 */
export function secretKindOf(variable: string): "password" | "key" | null {
  const words = wordsOf(variable);
  // The name of a secret is no secret.
  if (words.length > 1 && words.at(-1) === "name") return null;
  if (words.some((word) => PASSWORDS.has(word) || GLUED_PASSWORD.test(word))) return "password";
  const isKey = words.some((word, index) =>
    endsAsCredential(words.slice(0, index + 1)) || GLUED_KEY.test(word) && word !== "key" && word !== "token"
  );
  return isKey ? "key" : null;
}

function endsAsSecret(words: readonly string[]): boolean {
  return WHOLE_NAMES.has(words.join("")) || GLUED.test(words.at(-1) ?? "") ||
    words.some((_, index) => SECRET_ENDINGS.has(words.slice(index).join("")));
}

function endsAsCredential(words: readonly string[]): boolean {
  const [before = "", last = ""] = words.slice(-2);
  if (endsAsSecret(words)) return true;
  return words.length > 1 && (last === "key" || last === "token") && !ORDINARY_WORDS.has(before);
}

/** The words of a name in lower case and in the singular, without numbers at its end. */
function wordsOf(name: string): string[] {
  const words = name.replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2 ").toLowerCase()
    .split(/[^a-z0-9]+/).filter((word) => word !== "");
  while (words.length > 1 && /^\d+$/.test(words.at(-1) ?? "")) words.pop();
  return words.map((word) => word.replace(/(?<=[a-z])\d+$/, "").replace(PLURAL, "$1"));
}

const NAME_CHARACTER = /[\w.-]/;
/** Ends of escapes of JSON and URLs after their first character: these letters belong to no name. */
const ESCAPE_ENDS: Readonly<Record<string, RegExp>> = {
  "\\": /^(?:u[0-9a-fA-F]{4}|[nrtbf])/,
  "%": /^[0-9a-fA-F]{2}/,
};

/** The name that `text` ends with. Takes time linear in the name. */
export function nameAtEnd(text: string): string {
  let from = text.length;
  while (from > 0 && NAME_CHARACTER.test(text[from - 1] ?? "")) from--;
  const name = text.slice(from);
  const escape = ESCAPE_ENDS[text[from - 1] ?? ""];
  return escape === undefined ? name : name.replace(escape, "");
}

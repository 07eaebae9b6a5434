/** Texts, headers and variables with secrets, and such as are only about secrets. */

/** Texts with secrets that no variable has, and what becomes of them. */
export const SHAPES: readonly [string, string][] = [
  ['{"a":"x\\nghp_abcdefghijklmnop1234"}', '{"a":"x\\nREDACTEDREDACTEDREDACTED"}'],
  // Words alone are no key, but these are no words.
  ["sk-ant-api03-abcdefgh now", "REDACTEDREDACTEDREDAC now"],
  ["sk-proj-abcdefghijkL now", "REDACTEDREDACTEDREDA now"],
  ["k=AKIAABCDEFGHIJKLMNOP;", "k=REDACTEDREDACTEDREDA;"],
  ["curl -H 'Authorization: Bearer abcd1234'", "curl -H 'Authorization: Bearer REDACTED'"],
  ["Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic REDACTEDREDA"],
  ["the bearer abcdef1234567890 came", "the bearer REDACTEDREDACTED came"],
  ["OPENAI_API_KEY=abcdef12", "OPENAI_API_KEY=REDACTED"],
  // One of several.
  [
    '{"api_key_2":"abcd1234","access_token_1":"efgh5678"}',
    '{"api_key_2":"REDACTED","access_token_1":"REDACTED"}',
  ],
  ["OPENAI_API_KEY_10=abcdef12 apiKey2: abcdef12", "OPENAI_API_KEY_10=REDACTED apiKey2: REDACTED"],
  ['{"password2":"a b","password_1":1234}', '{"password2":"RED","password_1":1111}'],
  ["Name=Root1234;SharedAccessKey=abcd1234=", "Name=Root1234;SharedAccessKey=REDACTEDR"],
  // Whatever the password of a JSON body is.
  ['{"dbPassword" : "a b","x":1}', '{"dbPassword" : "RED","x":1}'],
  ['{"password":1234,"x":1}', '{"password":1111,"x":1}'],
  ['{"passphrase":"süß"}', '{"passphrase":"REDAC"}'],
  ['{"a":"{\\"password\\": \\"q\\\\\\"r\\",\\"x\\":1}"}', '{"a":"{\\"password\\": \\"REDACT\\",\\"x\\":1}"}'],
  ["postgres:\\/\\/me:hunter2@db", "postgres:\\/\\/me:REDACTE@db"],
  ["https://a.test/i?se=1&sig=abcDEF12%2Bgh%3Dij&sp=r", "https://a.test/i?se=1&sig=REDACTEDREDACTEDRE&sp=r"],
  ['"o?X-Amz-Signature=0123456789abcdef"', '"o?X-Amz-Signature=REDACTEDREDACTED"'],
  ['"o?a=1\\u0026X-Goog-Signature=0123456789abcdef"', '"o?a=1\\u0026X-Goog-Signature=REDACTEDREDACTED"'],
  ['"eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl"', '"REDACTEDREDACTEDREDACTEDREDACTEDREDACT"'],
];

/** Texts that are only about secrets. */
export const PLAIN: readonly string[] = [
  "import sk-learn-pipelines-are-very-good, or sk-image_filters",
  '{"usage":{"input_tokens":12345678},"prompt_cache_key":"session-12345678","max_output_tokens":16384000}',
  '{"password":{"type":"string"},"required":["password"],"has_password":true,"passwd":null,"keyword":"horse"}',
  '{"max_tokens_2":"16384k","page_token_2":"abcd1234","sort_key_1":"abcd1234"}',
  "https://a.test/?sig=short123&design=abcdefgh12345678 and signature=abcdefgh12345678",
  "the bearer of bad news; authorization was given; key: value1234; the password: unknown",
  "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
];

/** A password that is an ordinary word. */
export const WORD = "postgres";

/** Texts in which the word is a secret, and those in which it is a word. */
export const WORDS: Readonly<Record<"secret" | "plain", readonly string[]>> = {
  secret: [
    "PGPASSWORD='postgres'",
    '{"args":"{\\\\\\"apiKey\\\\\\":\\\\\\"postgres\\\\\\"}"}',
    "env:\n  POSTGRES_PASSWORD: postgres\n",
    '{"authorization":"Bearer postgres"}',
    "mysql://me:postgres@db.test/x",
    "https:\\/\\/db.test\\/postgres",
    '{"password":"\\u0070ostgres"}',
    `https://db.test/${"a/".repeat(100)}postgres`,
  ],
  plain: [
    "How do I connect to postgres?",
    '{"tools":[{"name":"postgres","parameters":{"properties":{"postgres":{"type":"string"}}}}]}',
    '{"monkey":"postgres","turkey=":1} turkey=postgres',
    "postgres://db.test/x",
    "see https://db.test/x for postgres",
    btoa("postgres"),
  ],
};

const KEYS =
  "X-Api-Key ocp-apim-subscription-key x-functions-key helicone-auth x-portkey-api-key x-litellm-api-key " +
  "cf-aig-authorization x-amz-security-token x-auth-token X-Tenant-Secret x-key";

/** Headers that carry a key, and the form of their value. */
export const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["Authorization", "Bearer VALUE"],
  ["Authorization", "Basic VALUE"],
  ["Cookie", "a=VALUE; b=short"],
  ...KEYS.split(" ").flatMap((name) => [[name, "VALUE"], [name, "Bearer VALUE"]] as const),
];

/** Headers whose values are no keys, whatever their names say. */
export const OTHERS: readonly string[] =
  "idempotency-key x-cache-key x-ratelimit-key x-next-page-token x-ratelimit-reset-tokens x-author".split(
    " ",
  );

type Variable = readonly [name: string, value: string, ...parts: readonly (string | null)[]];
/** Variables whose whole value is a secret. */
const WHOLE: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "sk-abcdefgh1234",
  SlackToken: "abcdefgh1234",
  ACCESS_TOKEN_1: "abcdefgh1234",
  openai_api_key_2: "abcdefgh1234",
  SESSION_COOKIE: "sid=abcdefgh1234",
  MY_CREDS: "correcthorse",
  MYSQL_PWD: "12345678",
  AWS_SECRET_ACCESS_KEY: "/plain/path/of/a/person",
  WHATEVER: "ghp_abcdefghijklmnop1234",
  Stripe_Sk: "abcd1234efgh55",
  WEBHOOK_URL: "https://hooks.example/services/T0/B0/XXXX",
};
/** Variables that hold no secret, whatever their names say. */
const NONE: readonly Variable[] = [
  ["AGENT_KEY", "0f1e2d3c4b5a6978"],
  ["MONKEY", "abcdef1234"],
  ["AUTH_HOST", "auth.example.com:8443"],
  ["TOKEN_MODEL", "gpt-5.2_2025-12-11"],
  ["CSV", "AccountKeys=abcdef1234"],
  ["WEBHOOK_URL", "https://hooks.example/"],
  ["SECRET_NAME", "my-app-config"],
  ["SESSION_ID", "abcdef123456"],
  ["SSH_AUTH_SOCK", "/tmp/ssh-Abcdef12/agent.1234"],
  ["MAX_OUTPUT_TOKENS", "1600000000"],
  ["API_TOKEN", "xxxxxxxxxxxx"],
  ["USE_PASSWORD", "true"],
];

/** A variable, its value, and the parts of it that are secrets; `null` if they are too short to search for. */
export const VARIABLES: readonly Variable[] = [
  ...Object.entries(WHOLE).map(([name, value]) => [name, value, value] as const),
  ["REGISTRY_AUTH", " dXNlcjpwYXNzd29yZA== ", "dXNlcjpwYXNzd29yZA=="],
  ["DATABASE_URL", "postgres://me:hun%40ter22@db/x", "hun%40ter22", "hun@ter22"],
  ["PEM", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "-----BEGIN PRIVATE KEY-----\nMIIE"],
  ["GOOGLE_CREDENTIALS", '{"type":"service","private_key_id":"abcdef123456","n":1}', "abcdef123456"],
  ["STORAGE", "Protocol=https;AccountName=me;AccountKey=Ab1+/cd==;EndpointSuffix=core.test", "Ab1+/cd=="],
  ["SQL_SECRET", "Server=db.test;Pwd=hunter2hunter2", "hunter2hunter2", "Server=db.test;Pwd=hunter2hunter2"],
  ...NONE,
  ["DB_PASSWORD", "hunter2", null],
  ["DATABASE_URL", "postgres://me:p%40ss@db/x", null],
];

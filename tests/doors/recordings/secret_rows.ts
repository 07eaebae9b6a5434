/** Texts, headers and variables with secrets, and such as are only about secrets. */

/** Texts with secrets that no variable has, and what becomes of them. */
export const SHAPES: readonly [string, string][] = [
  ['{"a":"x\\nghp_abcdefghijklmnop1234"}', '{"a":"x\\nREDACTEDREDACTEDREDACTED"}'],
  // Words alone are no key, but these are no words.
  ["sk-ant-api03-abcdefgh now", "REDACTEDREDACTEDREDAC now"],
  ["sk-live-abcdefghijklmnopqrst now", "REDACTEDREDACTEDREDACTEDREDA now"],
  ["sk-proj-abcdefghijkL now", "REDACTEDREDACTEDREDA now"],
  ["sk-abcdefghij now", "REDACTEDREDAC now"],
  ["k=AKIAABCDEFGHIJKLMNOP;", "k=REDACTEDREDACTEDREDA;"],
  ["curl -H 'Authorization: Bearer abcd1234'", "curl -H 'Authorization: Bearer REDACTED'"],
  ["authorization: abcd1234efgh", "authorization: REDACTEDREDA"],
  ["Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic REDACTEDREDA"],
  ['{\\"Authorization\\": \\"Bearer abcd1234\\"}', '{\\"Authorization\\": \\"Bearer REDACTED\\"}'],
  ["the bearer abcdef1234567890 came", "the bearer REDACTEDREDACTED came"],
  ["OPENAI_API_KEY=abcdef12", "OPENAI_API_KEY=REDACTED"],
  ['{\\"accessToken\\":\\"abc12def\\"}', '{\\"accessToken\\":\\"REDACTED\\"}'],
  ["password=hunter22;", "password=REDACTED;"],
  ["AccountName=a;AccountKey=Ab1+/cd==;B=x", "AccountName=a;AccountKey=REDACTEDR;B=x"],
  [
    "SharedAccessKeyName=Root1234;SharedAccessKey=abcd1234=",
    "SharedAccessKeyName=Root1234;SharedAccessKey=REDACTEDR",
  ],
  ['"access_key_id":1,"accountKey": "Ab1\\/cdef="', '"access_key_id":1,"accountKey": "REDACTEDRE"'],
  // Whatever the password of a JSON body is.
  ['{"dbPassword" : "a b","x":1}', '{"dbPassword" : "RED","x":1}'],
  ['{"passwd":"a\\"b,c\\\\","x":"y"}', '{"passwd":"REDACTED","x":"y"}'],
  ['{"passphrase":"süß"}', '{"passphrase":"REDAC"}'],
  ['{"password":1234,"x":1}', '{"password":1111,"x":1}'],
  ['{"a":"{\\"password\\": \\"q\\\\\\"r\\",\\"x\\":1}"}', '{"a":"{\\"password\\": \\"REDACT\\",\\"x\\":1}"}'],
  ["postgres:\\/\\/me:hunter2@db", "postgres:\\/\\/me:REDACTE@db"],
  ['"eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl"', '"REDACTEDREDACTEDREDACTEDREDACTEDREDACT"'],
];

/** Texts that are only about secrets. */
export const PLAIN: readonly string[] = [
  "import sk-learn-pipelines-are-very-good, or sk-image_filters",
  "a task-force-for-2026 on disk-usage-reports, token by token",
  '{"usage":{"input_tokens":12345678},"prompt_cache_key":"session-12345678","max_output_tokens":16384000}',
  '{"logprobs":[{"token":"sha256abc","logprob":-0.1,"bytes":[1]}],"next_token":null,"api_key":12345678}',
  '{"password":{"type":"string"},"required":["password"],"has_password":true,"passwd":null,"keyword":"horse"}',
  "the bearer of bad news; authorization was given; key: value1234; the password: unknown",
  "https://example.com:8080/path@2x.png?token_type=1",
  "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
];

/** A password that is an ordinary word. */
export const WORD = "postgres";

/** Texts in which the word is a secret, and those in which it is a word. */
export const WORDS: Readonly<Record<"secret" | "plain", readonly string[]>> = {
  secret: [
    "PGPASSWORD='postgres'",
    '{"args":"{\\"dbPassword\\": \\"postgres\\"}"}',
    '{"args":"{\\\\\\"apiKey\\\\\\":\\\\\\"postgres\\\\\\"}"}',
    "env:\n  POSTGRES_PASSWORD: postgres\n",
    '{"authorization":"Bearer postgres"}',
    "x-api-key: postgres",
    "client_secret=postgres&x=1",
    "mysql://me:postgres@db.test/x",
    "https://db.test/a?pw=postgres#b",
    "https:\\/\\/db.test\\/postgres",
    "http://db.test/%70ostgres",
    '{"password":"\\u0070ostgres"}',
    `https://db.test/${"a/".repeat(100)}postgres`,
  ],
  plain: [
    "How do I connect to postgres?",
    '{"tools":[{"name":"postgres","parameters":{"properties":{"postgres":{"type":"string"}}}}]}',
    '{"note":"postgresql","key":"mypostgres"}',
    '{"monkey":"postgres","turkey=":1} turkey=postgres',
    "the password is postgres",
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
  MYAPIKEY: "abcdefgh1234",
  DEPLOY_KEY_2: "abcdefgh1234",
  SlackToken: "abcdefgh1234",
  PGPASSWORD: "correcthorse",
  MYSQL_PWD: "12345678",
  SESSION_COOKIE: "sid=abcdefgh1234",
  AWS_ACCESS_KEY_B: "/alrXUtnFEMI7/K7MDENG/bPxRfiCYEXAMPLE3",
  AWS_SECRET_ACCESS_KEY: "/plain/path/of/a/person",
  AWS_ACCESS_KEY_ID: "minioadmin",
  WHATEVER: "ghp_abcdefghijklmnop1234",
  DB_PW: "hunter22a",
  MY_CREDS: "correcthorse",
  Stripe_Sk: "abcd1234efgh55",
  WEBHOOK_URL: "https://hooks.example/services/T0/B0/XXXX",
  OPENAIKEY: "abcdef1234",
  ACME_API_TOKENS: "abcdef1234",
  ADMIN_PASSWORD: "staple.of.horses",
};
/** Variables that hold no secret, whatever their names say. */
const NONE: readonly Variable[] = [
  ["AWS_SHARED_CREDENTIALS_FILE", "/srv/me/credentials"],
  ["nextPageToken", "abcdef1234"],
  ["AGENT_KEY", "0f1e2d3c4b5a6978"],
  ["MONKEY", "abcdef1234"],
  ["AUTH_HOST", "auth.example.com:8443"],
  ["TOKEN_MODEL", "gpt-5.2_2025-12-11"],
  ["AUTH_EVENT", "response.output_text.delta"],
  ["CSV", "AccountKeys=abcdef1234"],
  ["WEBHOOK_URL", "https://hooks.example/"],
  ["WEBHOOK_PORT", "8080-8090"],
  ["SECRET_NAME", "my-app-config"],
  ["API_KEY_NAME", "the-key-of-2024"],
  ["TOKENIZERS_PARALLELISM", "disabled1"],
  ["SESSION_ID", "abcdef123456"],
  ["BCRYPT_SALT", "abcdef123456"],
  ["TASK_RISK", "abcd1234efgh"],
  ["SSH_AUTH_SOCK", "/tmp/ssh-Abcdef12/agent.1234"],
  ["GOOGLE_APPLICATION_CREDENTIALS", "/srv/me/.config/key-2024.json"],
  ["MAX_OUTPUT_TOKENS", "1600000000"],
  ["GIT_AUTHOR_NAME", "Winston of 1984"],
  ["KEYBOARD_LAYOUT", "us-intl-2024"],
  ["TOKEN_URL", "https://auth.example.com/oauth2/token"],
  ["API_TOKEN", "xxxxxxxxxxxx"],
  ["USE_PASSWORD", "true"],
  ["PASSWORD_AUTH", "1"],
];

/** A variable, its value, and the parts of it that are secrets; `null` if they are too short to search for. */
export const VARIABLES: readonly Variable[] = [
  ...Object.entries(WHOLE).map(([name, value]) => [name, value, value] as const),
  ["REGISTRY_AUTH", " dXNlcjpwYXNzd29yZA== ", "dXNlcjpwYXNzd29yZA=="],
  ["DATABASE_URL", "postgres://me:hun%40ter22@db/x", "hun%40ter22", "hun@ter22"],
  ["PEM", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "-----BEGIN PRIVATE KEY-----\nMIIE"],
  ["GOOGLE_CREDENTIALS", '{"type":"service","private_key_id":"abcdef123456","n":1}', "abcdef123456"],
  ["STORAGE", "Protocol=https;AccountName=me;AccountKey=Ab1+/cd==;EndpointSuffix=core.test", "Ab1+/cd=="],
  ["BUS", "Endpoint=sb://a.test/;SharedAccessKeyName=Root1234;SharedAccessKey=abcd1234=", "abcd1234="],
  ["SQL", "Server=db.test;User Id=me;Password=hunter2hunter2;Encrypt=true", "hunter2hunter2"],
  ["SQL_SECRET", "Server=db.test;Pwd=hunter2hunter2", "hunter2hunter2", "Server=db.test;Pwd=hunter2hunter2"],
  ...NONE,
  ["DB_PASSWORD", "hunter2", null],
  ["API_KEY", "short7x", null],
  ["DB_PW", " 1234 ", null],
  ["DATABASE_URL", "postgres://me:p%40ss@db/x", null],
];

/** Texts, headers and variables with secrets, and such as are only about secrets. */

/** Texts with secrets that no variable has, and what becomes of them. */
export const SHAPES: readonly [string, string][] = [
  ["use sk-proj-abc123DEF456 now", "use REDACTEDREDACTEDREDA now"],
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
  ['"client_secret": "abc12def", "x"', '"client_secret": "REDACTED", "x"'],
  ['{\\"accessToken\\":\\"abc12def\\"}', '{\\"accessToken\\":\\"REDACTED\\"}'],
  ["password=hunter22;", "password=REDACTED;"],
  [
    "AccountName=a;AccountKey=Ab1+/cd==;EndpointSuffix=x",
    "AccountName=a;AccountKey=REDACTEDR;EndpointSuffix=x",
  ],
  [
    "Endpoint=sb://a/;SharedAccessKeyName=Root1234;SharedAccessKey=abcd1234=",
    "Endpoint=sb://a/;SharedAccessKeyName=Root1234;SharedAccessKey=REDACTEDR",
  ],
  ['"access_key_id":1,"accountKey": "Ab1\\/cdef="', '"access_key_id":1,"accountKey": "REDACTEDRE"'],
  // Whatever the password of a JSON body is.
  ['{"password":"correcthorse","x":1}', '{"password":"REDACTEDREDA","x":1}'],
  ['{"dbPassword" : "a b","x":1}', '{"dbPassword" : "RED","x":1}'],
  ['{"passwd":"a\\"b,c\\\\","x":"y"}', '{"passwd":"REDACTED","x":"y"}'],
  ['{"passphrase":"süß"}', '{"passphrase":"REDAC"}'],
  ['{"password":1234,"x":1}', '{"password":1111,"x":1}'],
  ['{"a":"{\\"password\\": \\"q\\\\\\"r\\",\\"x\\":1}"}', '{"a":"{\\"password\\": \\"REDACT\\",\\"x\\":1}"}'],
  ["postgres://me:hunter2@db/x", "postgres://me:REDACTE@db/x"],
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
    "POSTGRES_PASSWORD=postgres",
    "PGPASSWORD='postgres'",
    '{"password":"postgres","x":1}',
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
    "s3://db.test/postgres",
    '{"password":"\\u0070ostgres"}',
    `https://db.test/${"a/".repeat(100)}postgres`,
  ],
  plain: [
    "How do I connect to postgres?",
    '{"tools":[{"name":"postgres","parameters":{"properties":{"postgres":{"type":"string"}}}}]}',
    '{"delta":"postgres"}{"text":"postgres is a database"}',
    '{"note":"postgresql","key":"mypostgres"}',
    '{"monkey":"postgres","turkey=":1} turkey=postgres',
    "the password is postgres",
    "postgres://db.test/x",
    "see https://db.test/x for postgres",
    btoa("postgres"),
    "sergtsop",
  ],
};

/** Headers that carry a key, and the form of their value. */
export const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["Authorization", "Bearer VALUE"],
  ["Authorization", "Basic VALUE"],
  ["Cookie", "a=VALUE; b=short"],
  ...[
    ...["X-Api-Key", "ocp-apim-subscription-key", "x-functions-key", "helicone-auth", "x-portkey-api-key"],
    ...[
      "cf-aig-authorization",
      "x-litellm-api-key",
      "x-amz-security-token",
      "x-auth-token",
      "X-Tenant-Secret",
      "x-key",
    ],
  ].flatMap((name) => [[name, "VALUE"], [name, "Bearer VALUE"]] as const),
];

/** Headers whose values are no keys, whatever their names say. */
export const OTHERS: readonly string[] = [
  ...[
    "idempotency-key",
    "x-cache-key",
    "x-ratelimit-key",
    "x-next-page-token",
    "x-ratelimit-reset-tokens",
    "x-author",
  ],
];

/** A variable, its value, and the parts of it that are secrets; `null` if they are too short to search for. */
export const VARIABLES:
  readonly (readonly [name: string, value: string, ...parts: readonly (string | null)[]])[] = [
    ["OPENAI_API_KEY", "sk-abcdefgh1234", "sk-abcdefgh1234"],
    ["MYAPIKEY", "abcdefgh1234", "abcdefgh1234"],
    ["DEPLOY_KEY_2", "abcdefgh1234", "abcdefgh1234"],
    ["SlackToken", "abcdefgh1234", "abcdefgh1234"],
    ["PGPASSWORD", "correcthorse", "correcthorse"],
    ["MYSQL_PWD", "12345678", "12345678"],
    ["REGISTRY_AUTH", " dXNlcjpwYXNzd29yZA== ", "dXNlcjpwYXNzd29yZA=="],
    ["SESSION_COOKIE", "sid=abcdefgh1234", "sid=abcdefgh1234"],
    [
      "AWS_SECRET_ACCESS_KEY",
      "/alrXUtnFEMI7/K7MDENG/bPxRfiCYEXAMPLE3",
      "/alrXUtnFEMI7/K7MDENG/bPxRfiCYEXAMPLE3",
    ],
    ["AWS_ACCESS_KEY_B", "/alrXUtnFEMI7/K7MDENG/bPxRfiCYEXAMPLE3", "/alrXUtnFEMI7/K7MDENG/bPxRfiCYEXAMPLE3"],
    ["AWS_SECRET_ACCESS_KEY", "/plain/path/of/a/person", "/plain/path/of/a/person"],
    ["AWS_ACCESS_KEY_ID", "minioadmin", "minioadmin"],
    ["AWS_SHARED_CREDENTIALS_FILE", "/srv/me/credentials"],
    ["WHATEVER", "ghp_abcdefghijklmnop1234", "ghp_abcdefghijklmnop1234"],
    ["DATABASE_URL", "postgres://me:hun%40ter22@db/x", "hun%40ter22", "hun@ter22"],
    ["PEM", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "-----BEGIN PRIVATE KEY-----\nMIIE"],
    [
      "GOOGLE_CREDENTIALS",
      '{"type":"service","private_key_id":"abcdef123456","n":1,"url":"https://a.test/x"}',
      "abcdef123456",
    ],
    ["DB_PW", "hunter22a", "hunter22a"],
    ["MY_CREDS", "correcthorse", "correcthorse"],
    ["Stripe_Sk", "abcd1234efgh55", "abcd1234efgh55"],
    ["WEBHOOK_URL", "https://hooks.example/services/T0/B0/XXXX", "https://hooks.example/services/T0/B0/XXXX"],
    [
      "STORAGE",
      "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=Ab1+/cd==;EndpointSuffix=core.test",
      "Ab1+/cd==",
    ],
    ["BUS", "Endpoint=sb://a.test/;SharedAccessKeyName=Root1234;SharedAccessKey=abcd1234=", "abcd1234="],
    ["SQL", "Server=db.test;User Id=me;Password=hunter2hunter2;Encrypt=true", "hunter2hunter2"],
    [
      "SQL_SECRET",
      "Server=db.test;Pwd=hunter2hunter2",
      "hunter2hunter2",
      "Server=db.test;Pwd=hunter2hunter2",
    ],
    ["OPENAIKEY", "abcdef1234", "abcdef1234"],
    ["ACME_API_TOKENS", "abcdef1234", "abcdef1234"],
    ["nextPageToken", "abcdef1234"],
    ["AGENT_KEY", "0f1e2d3c4b5a6978"],
    ["MONKEY", "abcdef1234"],
    ["AUTH_HOST", "auth.example.com:8443"],
    ["TOKEN_MODEL", "gpt-5.2_2025-12-11"],
    ["AUTH_EVENT", "response.output_text.delta"],
    ["ADMIN_PASSWORD", "staple.of.horses", "staple.of.horses"],
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
    ["TOKENIZERS_PARALLELISM", "disabled"],
    ["MAX_OUTPUT_TOKENS", "1600000000"],
    ["GIT_AUTHOR_NAME", "Winston of 1984"],
    ["KEYBOARD_LAYOUT", "us-intl-2024"],
    ["TOKEN_URL", "https://auth.example.com/oauth2/token"],
    ["API_TOKEN", "xxxxxxxxxxxx"],
    ["DB_PASSWORD", "hunter2", null],
    ["API_KEY", "short7x", null],
    ["DB_PW", " 1234 ", null],
    ["DATABASE_URL", "postgres://me:p%40ss@db/x", null],
    ["USE_PASSWORD", "true"],
    ["PASSWORD_AUTH", "1"],
    ["MAX_OUTPUT_TOKENS", "1600"],
    ["SECRET_NAME", "app-1"],
  ];

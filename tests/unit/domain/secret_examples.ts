/** Examples for each row of the table of secret shapes. All of it is made up. */

/** Examples of one shape. */
export interface SecretExamples {
  /** Texts with one secret each, between « and ». */
  readonly found: readonly string[];
  /** Texts that look like it and hold no secret. */
  readonly kept?: readonly string[];
}

/** By the name of the row. */
export const EXAMPLES: Readonly<Record<string, SecretExamples>> = {
  "private key in PEM": {
    found: ["-----BEGIN RSA PRIVATE KEY-----\n«MIIEabcd»\n-----END RSA PRIVATE KEY-----\n"],
    kept: ["-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"],
  },
  "JSON web token": {
    found: [
      "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz»",
      '"«eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl»"',
    ],
    kept: ["eyJhbGciOiJIUzI1NiJ9 is the header of a token"],
  },
  "OpenAI, Anthropic and compatible servers": {
    found: ["use «sk-proj-abc123DEF456» now", "«sk-ant-api03-abcdefgh» now", "«sk-abcdefghij» now"],
    kept: ["a task-force-for-2026 on disk-usage-reports"],
  },
  "Stripe": {
    found: ["«sk_live_abcd1234» and", "«rk_test_abcd1234»"],
    kept: ["rs_0123456789abcdef", "sk_lively"],
  },
  "GitHub": {
    found: ["«ghp_abcdefghijklmnop1234»", '{"a":"x\\n«ghp_abcdefghijklmnop1234»"}'],
    kept: ["ghp_short"],
  },
  "GitHub, fine-grained": {
    found: ["«github_pat_abcdefghijkl_mnop1234»"],
    kept: ["github.com/a/github_pat"],
  },
  "GitLab": {
    found: ["«glpat-abcdefghijkl-mnop_1»"],
  },
  "Slack": {
    found: ["«xoxb-1234567890-abc»"],
  },
  "AWS": {
    found: ["k=«AKIAABCDEFGHIJKLMNOP»;", "«ASIAABCDEFGHIJKLMNOP»"],
    kept: ["AKIAabcdefghijklmnop"],
  },
  "Google": {
    found: ["«AIzaabcdefghijklmnopqrstuvwxyz0123456789»"],
    kept: ["AIzabc"],
  },
  "Google OAuth": {
    found: ["«ya29.abcdefghijklmnop-1»"],
  },
  "npm": {
    found: ["«npm_abcdefghijklmnopqrstuvwxyz012345»"],
    kept: ["npm_config_cache"],
  },
  "PyPI": {
    found: ["«pypi-abcdefghijklmnopqrstuvwxyz012345»"],
    kept: ["pypi-mirror"],
  },
  "Hugging Face": {
    found: ["«hf_abcdefghijklmnopqrst1»"],
    kept: ["hf_hub_download"],
  },
  "key that a server repeats, masked or not": {
    found: ["Incorrect API key provided: «sk-abc12***xyz9»", "key «gsk-abcdef» is unknown", "«xai-abc.def»"],
    kept: ["task-force-for-2026"],
  },
  "value of an authorization header": {
    found: [
      "curl -H 'Authorization: Bearer «abcd1234»'",
      "authorization: «abcd1234efgh»",
      "Authorization: Basic «dXNlcjpwYXNz»",
      '{"authorization":"Bearer «abcd1234»"}',
      '{\\"Authorization\\": \\"Bearer «abcd1234»\\"}',
    ],
    kept: ["authorization was given"],
  },
  "token after the word bearer": {
    found: ["the bearer «abcdef1234567890» came", "Bearer «abcdefghijklmnopqrstuvwxyz»"],
    kept: ["the bearer of bad news", "bearer authentication"],
  },
  "password in a URL": {
    found: ["postgres://me:«hunter2»@db/x", "postgres:\\/\\/me:«hunter2»@db"],
    kept: ["https://example.com:8080/path@2x.png", "https://me@example.com/"],
  },
  "signature of a URL": {
    found: [
      "https://a.blob.test/i.png?se=1&sig=«abcDEF12%2Bgh%3Dijkl»&sp=r",
      "https://s3.test/o?X-Amz-Signature=«0123456789abcdef» now",
      "https://s3.test/o?a=1&x-goog-signature=«0123456789abcdef»",
      '{"url":"https:\\/\\/s3.test\\/o?a\\u003d1\\u0026Signature=«ab\\/d~5.9%2Babcdefgh»"}',
      "https://a.test/?to=https%3A%2F%2Fs3.test%2Fo%3Fsig%3D«abcdefgh12345678»",
      '<a href="https://a.test/?a=1&amp;sig=«abcdefgh12345678»">',
    ],
    kept: [
      "https://a.test/?sig=short123&design=abcdefgh12345678",
      "sig=abcdefgh12345678 or signature=abcdefgh12345678",
      '{"signature":"abcdefgh12345678","thoughtSignature":"abcdefgh12345678"}',
    ],
  },
  "value of a member, variable or header that is named like a secret": {
    found: [
      "OPENAI_API_KEY=«abcdef12»",
      '"client_secret": "«abc12def»", "x"',
      '{\\"api_token\\":\\"«abc12def»\\"}',
      '"api_key_2": "«abc12def»"',
      '"access_token_1": "«abc12def»"',
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
  "value of a variable in capitals that ends with KEY": {
    found: ["export MYKEY=«abcdef12»"],
    kept: ["monkey: business", "export MONKEY=abcdef12"],
  },
};

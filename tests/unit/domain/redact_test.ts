import assert from "node:assert/strict";
import fc from "fast-check";
import { RedactingStream, redactText } from "../../../src/domain/redact.ts";
import { test } from "../../support/test.ts";

/** A text, and what it must become. The secrets are made up. */
const SHOWN: readonly [string, string][] = [
  ["use sk-proj-abc123DEF456 now", "use [redacted api_key] now"],
  [
    "curl -H 'Authorization: Bearer abcd1234efgh'",
    "curl -H 'Authorization: Bearer [redacted authorization]'",
  ],
  // In JSON, and in JSON in a JSON string.
  ['{"authorization":"Bearer abcd1234"}', '{"authorization":"Bearer [redacted authorization]"}'],
  [
    '{\\"Authorization\\": \\"Bearer abcd1234\\"}',
    '{\\"Authorization\\": \\"Bearer [redacted authorization]\\"}',
  ],
  ["the bearer abcdef1234567890 came", "the bearer [redacted bearer] came"],
  ['export DB_PASSWORD="two words"', 'export DB_PASSWORD="[redacted assignment]"'],
  ['"client_secret": "abc def"', '"client_secret": "[redacted assignment]"'],
  [
    "SharedAccessKeyName=Root;SharedAccessKey=ab12=",
    "SharedAccessKeyName=Root;SharedAccessKey=[redacted assignment]",
  ],
  ["postgres://me:hunter2@db/x", "postgres://me:[redacted url_password]@db/x"],
  ["https://a.test/?a=1&sig=abcdefgh12345678&b", "https://a.test/?a=1&sig=[redacted url_signature]&b"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz", "[redacted jwt]"],
  [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\n",
    "[redacted private_key]\n",
  ],
];

/** Ids, hashes and values of JSON, which stay. */
const KEPT = [
  "msg_0123456789abcdef rs_0123456789abcdef call_0123456789abcdef resp_0123",
  "0".repeat(64),
  '{"max_output_tokens":4096,"sort_key":12,"api_key":null,"is_secret":true,"token":[1]}',
];

Deno.test("secrets of each known shape are replaced, and what surrounds them stays", () => {
  for (const [text, wanted] of SHOWN) {
    const { text: redacted, counts } = redactText(text);
    assert.equal(redacted, wanted);
    assert.equal(Object.values(counts).reduce((sum, count) => sum + count, 0), 1, text);
  }
});

Deno.test("ids, hashes, ordinary words and plain JSON values are kept", () => {
  for (const text of KEPT) assert.deepEqual(redactText(text), { text, counts: {} });
});

Deno.test("redacting twice changes nothing more", () => {
  const once = redactText(SHOWN.map(([text]) => text).join("\n"));
  assert.deepEqual(redactText(once.text), { text: once.text, counts: {} });
});

test.long("a text that comes in pieces loses the same secrets, wherever it is cut", () => {
  const filler = "x y z\n".repeat(60_000);
  const text = `${SHOWN.map(([text]) => text).join("\n")}\n${filler}${
    SHOWN.map(([text]) => text).join("\n")
  }`;
  const whole = redactText(text);
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 400_000 }), (size) => {
      const stream = new RedactingStream();
      let joined = "";
      for (let at = 0; at < text.length; at += size) joined += stream.feed(text.slice(at, at + size));
      joined += stream.end();
      assert.equal(joined, whole.text);
      assert.deepEqual(stream.counts, whole.counts);
    }),
    { seed: 6, numRuns: 20 },
  );
});

test.long("a text of millions of characters that begins like a token runs out of no stack", () => {
  for (const piece of ["sk-", "eyJaaaaaaaa", "ghp_a", "a"]) {
    const text = piece.repeat(9_000_000 / piece.length);
    for (const whole of [text, `eyJ${text}`]) assert.ok(redactText(whole).text.length > 0);
  }
});

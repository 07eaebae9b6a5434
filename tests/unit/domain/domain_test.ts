import assert from "node:assert/strict";
import * as fc from "fast-check";
import { asRepriseError, EXIT_CODES, RepriseError } from "../../../src/domain/errors.ts";
import {
  accountHash,
  endpointHashes,
  isLoopback,
  keyHash,
  mayBeSameAccount,
  mayBeSameEndpoint,
  parseBaseUrl,
} from "../../../src/domain/fingerprint.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { isSessionId, parseSessionId, slugOf } from "../../../src/domain/ids.ts";
import { wellFormedValue } from "../../../src/domain/json.ts";
import { checkSeal, seal } from "../../../src/domain/seal.ts";
import { headOf, tailOf } from "../../../src/domain/text.ts";
import { VERSION } from "../../../src/domain/version.ts";
import denoJson from "../../../deno.json" with { type: "json" };

Deno.test("the version that the program prints is the one of deno.json", () => {
  assert.equal(VERSION, denoJson.version);
});

Deno.test("every error has an exit code of the table, and unknown errors are unexpected", () => {
  assert.equal(new RepriseError("session_locked", "x").exitCode, 5);
  assert.ok(Object.hasOwn(EXIT_CODES, new RepriseError("timed_out", "x").exitCode));
  const cause = new TypeError("odd");
  assert.deepEqual(asRepriseError(cause).toJSON().code, "unexpected");
  assert.equal(asRepriseError(cause).cause, cause);
});

Deno.test("session ids: what the grammar allows, and nothing that could be a path", () => {
  for (const id of ["a", "0", "fix-ci-7k2m", "a".repeat(64), "con"]) assert.equal(parseSessionId(id), id);
  const refused = [
    ...[
      "",
      ".",
      "..",
      "../x",
      "/etc",
      "a/b",
      "a\\b",
      "A",
      "a.b",
      "a b",
      "-a",
      "a\0b",
      "a\n",
      "ä",
      "a:b",
      "~",
    ],
    "a".repeat(65), // one too long
    "e\u0301", // decomposed
    "a ", // trailing space
    "\u202ea", // bidi override
  ];
  for (const id of refused) {
    assert.throws(() => parseSessionId(id), { code: "bad_session_id" }, JSON.stringify(id));
  }
});

Deno.test("a slug is always the start of a valid id", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (prompt) => {
      const slug = slugOf(prompt);
      assert.ok(isSessionId(`${slug}-x7k2`), slug);
      assert.ok(slug.length <= 24);
    }),
    { seed: 3 },
  );
  assert.equal(slugOf("Fix the failing test, please"), "fix-the-failing");
});

Deno.test("endpoints: case, trailing slash and default ports do not matter, everything else does", () => {
  const endpoint = (text: string) => endpointHashes(parseBaseUrl(text)).endpoint;
  assert.equal(endpoint("https://API.OpenAI.com/v1/"), endpoint("https://api.openai.com/v1"));
  assert.equal(endpoint("https://api.openai.com:443/v1"), endpoint("https://api.openai.com/v1"));
  assert.equal(endpoint("http://127.0.0.1:80/v1"), endpoint("http://127.0.0.1/v1"));
  assert.notEqual(endpoint("https://api.openai.com:8443/v1"), endpoint("https://api.openai.com/v1"));
  assert.notEqual(endpoint("https://api.openai.com/v2"), endpoint("https://api.openai.com/v1"));
  assert.notEqual(endpoint("http://localhost/v1"), endpoint("http://127.0.0.1/v1"));
  assert.equal(endpoint("https://api.openai.com/v1"), sha256Hex("https://api.openai.com/v1").slice(0, 8));
});

Deno.test("two servers at two loopback ports are two endpoints, and either may be one whose port is unknown", () => {
  const hashes = (text: string) => endpointHashes(parseBaseUrl(text));
  const hash = (text: string) => sha256Hex(text).slice(0, 8);
  const [a, b] = [hashes("http://127.0.0.1:8001/v1"), hashes("http://127.0.0.1:9/v1")];
  assert.deepEqual(a, {
    endpoint: hash("http://127.0.0.1:8001/v1"),
    portless: hash("http://127.0.0.1/v1"),
  });
  assert.ok(!mayBeSameEndpoint(a, b));
  const older = { endpoint: hash("http://127.0.0.1/v1") };
  for (const known of [a, b]) assert.ok(mayBeSameEndpoint(older, known) && mayBeSameEndpoint(known, older));
  assert.ok(!mayBeSameEndpoint(older, hashes("http://127.0.0.1:9/v2")));
  assert.ok(!mayBeSameEndpoint(older, hashes("http://localhost:9/v1")));
  // The default port is a port too: without it, such a server would look like one whose port is unknown.
  assert.ok(!mayBeSameEndpoint(hashes("http://127.0.0.1/v1"), b));
  assert.deepEqual(hashes("https://api.openai.com:8443/v1"), {
    endpoint: hash("https://api.openai.com:8443/v1"),
  });
});

Deno.test("a key's hash differs from family to family, and tells accounts apart that no response named", () => {
  assert.match(keyHash("s", "sk-1"), /^[0-9a-f]{16}$/);
  assert.equal(keyHash("s", "sk-1"), sha256Hex("s\nsk-1").slice(0, 16));
  assert.notEqual(keyHash("s", "sk-1"), keyHash("s", "sk-2"));
  assert.notEqual(keyHash("s", "sk-1"), keyHash("other", "sk-1"));
  const of = (account: string | null, key?: string) => ({ account, ...(key === undefined ? {} : { key }) });
  assert.ok(mayBeSameAccount(of("a", "k"), of("a", "l")), "two keys of one account");
  assert.ok(!mayBeSameAccount(of("a", "k"), of("b", "k")));
  assert.ok(!mayBeSameAccount(of(null, "k"), of("a", "l")));
  assert.ok(mayBeSameAccount(of(null, "k"), of("a", "k")));
  assert.ok(mayBeSameAccount(of(null), of("a", "k")), "unknown is no difference");
});

Deno.test("base URLs that could leak or mislead are refused", () => {
  for (
    const text of [
      "",
      "api.openai.com",
      "ftp://x/v1",
      "https://u:p@x/v1",
      "https://x/v1?k=1",
      "https://x/v1#f",
    ]
  ) {
    assert.throws(() => parseBaseUrl(text), { code: "bad_url" }, text);
  }
  assert.ok(isLoopback(new URL("http://[::1]:1/")));
  // A name that merely starts like a loopback address is somebody else's.
  assert.ok(!isLoopback(new URL("http://127.0.0.1.example.com/")));
  assert.ok(!isLoopback(new URL("http://localhost.example.com/")));
});

Deno.test("an account is unknown until a header names it, and organization and project both count", () => {
  assert.equal(accountHash(null, null), null);
  assert.notEqual(accountHash("a", null), accountHash(null, "a"));
  assert.match(accountHash("a", "b") ?? "", /^[0-9a-f]{16}$/);
});

Deno.test("a seal fits its own bytes, and no others", () => {
  const { bytes, sum } = seal('{"a":1,\n ');
  assert.equal(checkSeal(bytes), sum);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), { a: 1, sum });
  for (let index = 0; index < bytes.length; index++) {
    const altered = bytes.slice();
    altered[index] = (altered[index] as number) ^ 1;
    assert.equal(checkSeal(altered), null, `bit flip at ${index}`);
    assert.equal(checkSeal(bytes.subarray(0, index)), null, `cut at ${index}`);
  }
  assert.equal(checkSeal(new Uint8Array([...bytes, 10])), null, "one more newline");
});

Deno.test("text is cut between characters, never inside one", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, length) => {
      for (const part of [headOf(text, length), tailOf(text, length)]) {
        assert.ok(part.isWellFormed() && part.length <= length || part === text && text.length <= length);
      }
      assert.ok(text.startsWith(headOf(text, length)) && text.endsWith(tailOf(text, length)));
    }),
    { seed: 5 },
  );
  assert.equal(headOf("a\u{1f600}b", 2), "a");
  assert.equal(tailOf("a\u{1f600}b", 2), "b");
});

Deno.test("lone surrogates become well-formed at any depth, and own members keep their order and names", () => {
  const value = JSON.parse('{"b":["\\ud800",{"\\udc00":1}],"__proto__":"x","a":null}');
  const repaired = wellFormedValue(value);
  assert.equal(JSON.stringify(repaired), '{"b":["\ufffd",{"\ufffd":1}],"__proto__":"x","a":null}');
});

import assert from "node:assert/strict";
import { keysOf, KNOWN_UPSTREAMS, urlInVariable } from "../../../src/apis/known_upstreams.ts";

Deno.test("each variable has one row, and a default that a client can use", () => {
  const variables = KNOWN_UPSTREAMS.map(({ variable }) => variable);
  assert.equal(new Set(variables).size, variables.length);
  for (const { variable, defaultUrl, adds, hiddenBy, opens, keys } of KNOWN_UPSTREAMS) {
    assert.match(adds, /^\//, variable);
    assert.ok(defaultUrl === null || URL.canParse(defaultUrl) && !defaultUrl.endsWith("/"), variable);
    assert.ok(hiddenBy === undefined || variables.includes(hiddenBy), variable);
    assert.ok(opens !== "key" || keys.length > 0, `${variable} opens with a key`);
  }
});

Deno.test("the key of an unknown variable has the name that belongs to it", () => {
  const rows = [
    ["ACME_BASE_URL", "ACME_API_KEY"],
    ["ACME_API_BASE_URL", "ACME_API_KEY"],
    ["ACME_API_URL", "ACME_API_KEY"],
    ["ACME_API_BASE", "ACME_API_KEY"],
    ["ACME_BASE_URI", "ACME_API_KEY"],
    ["ACME_BASEURL", "ACME_API_KEY"],
    ["ACME_ENDPOINT", "ACME_API_KEY"],
    ["ACME_HOST", "ACME_API_KEY"],
    ["ACME_URL", "ACME_API_KEY"],
    ["ACME", "ACME_API_KEY"],
    ["GROQ_BASE_URL", "GROQ_API_KEY"],
  ] as const;
  for (const [variable, key] of rows) {
    assert.deepEqual(keysOf(variable), [{ variable: key, header: "authorization" }], variable);
  }
  assert.deepEqual(keysOf("ANTHROPIC_BASE_URL").map(({ header }) => header), ["x-api-key", "authorization"]);
});

Deno.test("the host of Ollama is read as its clients read it", () => {
  const rows = [
    ["", "http://127.0.0.1:11434"],
    ["1.2.3.4", "http://1.2.3.4:11434"],
    [":56789", "http://127.0.0.1:56789"],
    ["0.0.0.0:56789", "http://127.0.0.1:56789"],
    ["http://1.2.3.4", "http://1.2.3.4"],
    ["https://example.com:56789/path", "https://example.com:56789/path"],
    ["example.com/path", "http://example.com:11434/path"],
    ["[::1]:56789", "http://[::1]:56789"],
    ["[::]", "http://127.0.0.1:11434"],
  ] as const;
  for (const [given, url] of rows) assert.equal(urlInVariable("OLLAMA_HOST", given), url, given);
  assert.equal(urlInVariable("OLLAMA_BASE_URL", "1.2.3.4"), "1.2.3.4");
});

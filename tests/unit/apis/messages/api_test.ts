import assert from "node:assert/strict";
import { VERSION } from "../../../../src/domain/version.ts";
import { accountHash } from "../../../../src/domain/fingerprint.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import { apiOf } from "../../../../src/apis/apis.ts";

Deno.test("the version is always sent, the key in the header of its scheme, and no key without one", () => {
  const shared = {
    "anthropic-version": "2026-10-21",
    "user-agent": `reprise/${VERSION}`,
    "content-type": "application/json",
    "accept": "text/event-stream",
  };
  assert.deepEqual(messagesApi.headers({ value: "k1", scheme: "api_key" }), {
    "x-api-key": "k1",
    ...shared,
  });
  assert.deepEqual(messagesApi.headers({ value: "k1", scheme: "bearer" }), {
    authorization: "Bearer k1",
    ...shared,
  });
  assert.deepEqual(messagesApi.headers(null), shared);
  assert.equal(apiOf("anthropic"), messagesApi);
});

Deno.test("the account is the workspace that the answer names", () => {
  const account = messagesApi.accountOf(new Headers({ "anthropic-workspace-id": "wrkspc_1" }));
  assert.equal(account, accountHash(null, "wrkspc_1"));
  assert.equal(messagesApi.accountOf(new Headers({ "openai-organization": "o" })), null);
});

Deno.test("the input of a usage is the sum of its disjoint counts, and garbage counts as nothing", () => {
  // 1,200 new, 300 written to the cache, 9,000 read from it: 10,500 went in.
  assert.deepEqual(
    messagesApi.usageOf({
      input_tokens: 1200,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 9000,
      cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 0 },
      output_tokens: 640,
      output_tokens_details: { thinking_tokens: 512 },
    }),
    {
      input_tokens: 10_500,
      cached_tokens: 9000,
      cache_write_tokens: 300,
      output_tokens: 640,
      reasoning_tokens: 512,
    },
  );
  assert.deepEqual(
    messagesApi.usageOf({
      input_tokens: 5,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: -4,
      output_tokens: "9",
      output_tokens_details: [],
    }),
    { input_tokens: 5, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
  );
  assert.equal(
    messagesApi.usageOf({ input_tokens: 2 ** 60, cache_read_input_tokens: 2 ** 60 }).input_tokens,
    Number.MAX_SAFE_INTEGER,
  );
});

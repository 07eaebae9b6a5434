import assert from "node:assert/strict";
import { VERSION } from "../../../../src/domain/version.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";

Deno.test("the key is a bearer token, and without a key there is no such header", () => {
  assert.deepEqual(responsesApi.headers({ value: "sk-1", scheme: "bearer" }), {
    authorization: "Bearer sk-1",
    "user-agent": `reprise/${VERSION}`,
    "content-type": "application/json",
    "accept": "text/event-stream",
  });
  assert.equal("authorization" in responsesApi.headers(null), false);
});

Deno.test("usage is read with and without details, and garbage counts as nothing", () => {
  assert.deepEqual(
    responsesApi.usageOf({
      input_tokens: 137,
      input_tokens_details: { cached_tokens: 128, cache_write_tokens: 0 },
      output_tokens: 28,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 165,
    }),
    { input_tokens: 137, cached_tokens: 128, output_tokens: 28, reasoning_tokens: 20 },
  );
  assert.deepEqual(
    responsesApi.usageOf({ input_tokens: 5, output_tokens: null, input_tokens_details: [] }),
    {
      input_tokens: 5,
      cached_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
    },
  );
  assert.equal(responsesApi.usageOf({ input_tokens: -3, output_tokens: "9" }).input_tokens, 0);
});

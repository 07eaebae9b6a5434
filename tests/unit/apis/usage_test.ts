import assert from "node:assert/strict";
import { addUsage, NO_USAGE } from "../../../src/domain/usage.ts";
import { messagesApi } from "../../../src/apis/messages/api.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { otherTier, usageOf } from "../../../src/apis/usage.ts";

Deno.test("tokens that a Messages answer wrote to the cache are counted apart, and as input", () => {
  const usage = {
    input_tokens: 4,
    cache_creation_input_tokens: 1_900,
    cache_read_input_tokens: 3_000,
    output_tokens: 70,
    service_tier: "standard",
  };
  const counts = {
    input_tokens: 4_904,
    cached_tokens: 3_000,
    cache_write_tokens: 1_900,
    output_tokens: 70,
    reasoning_tokens: 0,
  };
  assert.deepEqual(messagesApi.usageOf(usage), counts);
  assert.deepEqual(usageOf("anthropic", usage), counts);
});

Deno.test("tokens that a Responses answer wrote to the cache are counted apart, and as input", () => {
  const usage = {
    input_tokens: 2_137,
    input_tokens_details: { cached_tokens: 1_024, cache_write_tokens: 1_000 },
    output_tokens: 28,
    output_tokens_details: { reasoning_tokens: 20 },
    total_tokens: 2_165,
  };
  const counts = {
    input_tokens: 2_137,
    cached_tokens: 1_024,
    cache_write_tokens: 1_000,
    output_tokens: 28,
    reasoning_tokens: 20,
  };
  assert.deepEqual(responsesApi.usageOf(usage), counts);
  for (const provider of ["openai", "azure", "compatible"] as const) {
    assert.deepEqual(usageOf(provider, usage), counts);
  }
});

Deno.test("sums of usages, which files keep, have no member for cache writes", () => {
  const usage = { input_tokens: 10, output_tokens: 2 };
  assert.deepEqual(responsesApi.usageOf(usage), { ...NO_USAGE, input_tokens: 10, output_tokens: 2 });
  const written = { ...NO_USAGE, input_tokens: 5, cache_write_tokens: 3 };
  assert.deepEqual(addUsage(written, written), { ...NO_USAGE, input_tokens: 10 });
});

Deno.test("a tier with another price than the standard one is named", () => {
  assert.equal(otherTier({}), null);
  assert.equal(otherTier({ service_tier: "standard" }), null);
  assert.equal(otherTier({ service_tier: "batch" }), "batch");
});

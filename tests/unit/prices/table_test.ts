import assert from "node:assert/strict";
import { NO_USAGE, type RequestUsage } from "../../../src/domain/usage.ts";
import { listPrice } from "../../../src/prices/table.ts";

const AT = new Date("2026-11-21T12:00:00.000Z");

function price(list: string, model: string, usage: Partial<RequestUsage>): number | null {
  return listPrice(list, model, { usage: { ...NO_USAGE, ...usage }, at: AT });
}

/** Asserts a price to a billionth of a dollar. */
function assertPrice(found: number | null, expected: number): void {
  assert.ok(found !== null && Math.abs(found - expected) < 1e-9, `${found} is not ${expected}`);
}

Deno.test("plain, cached and written input and output have prices of their own: counts of a recorded Responses call", () => {
  // Both requests of the recording test_openai_responses_prompt_cache_e2e.
  const written = { input_tokens: 4020, cache_write_tokens: 4012, output_tokens: 5 };
  assertPrice(price("openai", "gpt-5.6-sol", written), (8 * 4 + 4012 * 5 + 5 * 20) / 1e6);
  const cached = { input_tokens: 4020, cached_tokens: 4012, output_tokens: 5 };
  assertPrice(price("openai", "gpt-5.6-sol", cached), (8 * 4 + 4012 * 0.4 + 5 * 20) / 1e6);
});

Deno.test("plain, cached and written input and output have prices of their own: counts of a Messages call", () => {
  const usage = { input_tokens: 10_000, cached_tokens: 6_000, cache_write_tokens: 3_000, output_tokens: 500 };
  assertPrice(
    price("anthropic", "claude-sonnet-4-5-20250929", usage),
    (1_000 * 3 + 6_000 * 0.3 + 3_000 * 3.75 + 500 * 15) / 1e6,
  );
});

Deno.test("a dated snapshot has the price of its model", () => {
  const usage = { input_tokens: 1_000_000 };
  assertPrice(price("openai", "gpt-5-2025-08-07", usage), 1.25);
  assertPrice(price("azure", "gpt-5-2025-08-07", usage), 1.25);
  assertPrice(price("anthropic", "claude-haiku-4-5-20251001", usage), 1);
});

Deno.test("a price is never guessed: a model that only begins like a listed model has none", () => {
  const usage = { input_tokens: 1_000 };
  for (
    const [list, model] of [
      ["openai", "no-such-model"],
      ["openai", "gpt-5.99"],
      ["anthropic", "claude-sonnet-5-5"],
      ["anthropic", "claude-haiku-4-5-turbo"],
      ["openai", "gpt-5-nano-ultra"],
      ["azure", "my-o4-mini-deployment"],
      ["no-such-list", "gpt-5"],
    ] as const
  ) assert.equal(price(list, model, usage), null, `${list} ${model}`);
});

Deno.test("a price is never guessed: counts that contradict each other, and writes without a price, have none", () => {
  assert.equal(price("openai", "gpt-5", { input_tokens: 10, cached_tokens: 20 }), null);
  assert.equal(price("openai", "gpt-5", { input_tokens: 10, cache_write_tokens: 5 }), null);
});

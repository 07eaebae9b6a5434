/** The price list against the calculator of the package that it comes from. */
import assert from "node:assert/strict";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import fc from "fast-check";
import { listedProviders, priceListModule } from "../../../scripts/compile/price_list.ts";
import type { RequestUsage } from "../../../src/domain/usage.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { listPrice } from "../../../src/prices/table.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const LISTS = ["openai", "azure", "anthropic"];

/** Names of models: each id of the lists, also with a date, another case, or more text at its end. */
const MODELS = LISTS.flatMap((list) =>
  [list, ...findProvider({ providerId: list })?.fallback_model_providers ?? []].flatMap((source) =>
    (findProvider({ providerId: source })?.models ?? []).map(({ id }) => ({ list, id }))
  )
);
const ENDINGS = ["", "-2026-02-03", "-20260203", "-latest", "@20260203", "-2026-13-03", "-turbo"];

const usages = fc.record({
  input_tokens: fc.oneof(fc.nat(1_000), fc.constantFrom(199_999, 200_001, 271_999, 272_000, 900_000)),
  cached_tokens: fc.oneof(fc.constant(0), fc.nat(1_000)),
  cache_write_tokens: fc.oneof(fc.constant(0), fc.constant(null), fc.nat(500)),
  output_tokens: fc.nat(100_000),
});
const times = fc.oneof(
  fc.date({ min: new Date("2025-01-01"), max: new Date("2027-01-01"), noInvalidDate: true }),
  fc.constantFrom(
    ...["00:30:00.000", "00:30:00.250", "16:29:59.999", "16:30:00.000", "01:00:00.000", "09:59:59.999"]
      .map((time) => new Date(`2026-08-21T${time}Z`)),
  ),
);

/** The calculator's price of a request, and the model whose price it is. */
function calculated(
  list: string,
  model: string,
  usage: RequestUsage,
  at: Date,
): readonly [string, number | null] {
  const counts = {
    input_tokens: usage.input_tokens,
    cache_read_tokens: usage.cached_tokens,
    cache_write_tokens: usage.cache_write_tokens ?? 0,
    output_tokens: usage.output_tokens,
  };
  try {
    const price = calcPrice(counts, model, { providerId: list, timestamp: at });
    const { input_mtok, output_mtok, cache_write_mtok } = price?.model_price ?? {};
    const isPriced = input_mtok !== undefined && output_mtok !== undefined &&
      (counts.cache_write_tokens === 0 || cache_write_mtok !== undefined);
    return [price?.model.id ?? model, isPriced ? price?.total_price ?? null : null];
  } catch {
    return [model, null];
  }
}

test.long("each price is the one that the dependency's own calculator finds", () => {
  const models = fc.constantFrom(...MODELS);
  const property = fc.property(
    models,
    fc.constantFrom(...ENDINGS),
    usages,
    times,
    (named, ending, counts, at) => {
      const { list, id } = named;
      const [usage, model] = [{ ...NO_USAGE, ...counts } as RequestUsage, id + ending];
      const [priced, expected] = calculated(list, model, usage, at);
      const found = listPrice(list, model, { usage, at });
      const what = `${list} ${model}: ${found}, not ${expected}`;
      // The calculator ignores counts that contradict each other if they have the same price.
      if (counts.cached_tokens + (counts.cache_write_tokens ?? 0) > counts.input_tokens) {
        assert.equal(found, null);
      } else if (found === null) {
        // Which names are exact is judged here alone; the calculator has a price for more names.
        assert.ok(expected === null || priced !== id || ending !== "", what);
      } else assert.ok(expected !== null && Math.abs(found - expected) < 1e-9, what);
    },
  );
  fc.assert(property, { numRuns: samples(40_000) });
});

Deno.test("the executable's list has every model of the providers, and of those whose models they offer", async () => {
  const source = `data:text/javascript;base64,${btoa(unescape(encodeURIComponent(priceListModule())))}`;
  const module = await import(source) as { findProvider: typeof findProvider };
  for (const list of ["openai", "azure", "anthropic", "deepseek", "x-ai", "moonshotai"]) {
    const [whole, kept] = [findProvider, module.findProvider].map((find) => find({ providerId: list }));
    assert.ok(whole !== undefined && kept !== undefined, list);
    assert.deepEqual(kept.fallback_model_providers, whole.fallback_model_providers);
    assert.deepEqual(
      kept.models.map(({ id, match, prices }) => ({ id, match, prices })),
      JSON.parse(JSON.stringify(whole.models.map(({ id, match, prices }) => ({ id, match, prices })))),
    );
  }
  assert.equal(module.findProvider({ providerId: "toString" }), undefined);
  assert.equal(listedProviders().length, 6);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import type { ApiFailure } from "../../../src/domain/errors.ts";
import { mayRetry, retryDelay } from "../../../src/transport/exchange.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

function delay(attempt: number, headers: Record<string, string>, random = 0): number {
  return retryDelay(attempt, { headers: new Headers(headers), now: NOW, random });
}

function failure(code: ApiFailure["code"], retryable: boolean): ApiFailure {
  return { code, message: "", status: null, providerCode: null, providerType: null, param: null, retryable };
}

Deno.test("the wait that the server asks for is used when it is 0 to 60 seconds", async (t) => {
  const rows: [string, Record<string, string>, number][] = [
    ["milliseconds", { "retry-after-ms": "1250" }, 1250],
    ["milliseconds win over seconds", { "retry-after-ms": "10", "retry-after": "5" }, 10],
    ["seconds", { "retry-after": "7" }, 7000],
    ["a fraction", { "retry-after": "1.5" }, 1500],
    ["none at all", { "retry-after": "0" }, 0],
    ["the longest", { "retry-after": "60" }, 60_000],
    ["a date", { "retry-after": new Date(NOW + 30_000).toUTCString() }, 30_000],
    ["too long", { "retry-after": "61" }, 500],
    ["a date far away", { "retry-after": new Date(NOW + 3_600_000).toUTCString() }, 500],
    ["a date in the past", { "retry-after": new Date(NOW - 30_000).toUTCString() }, 500],
    ["garbage", { "retry-after": "soon" }, 500],
    ["empty", { "retry-after": "" }, 500],
  ];
  for (const [name, headers, expected] of rows) {
    await t.step(name, () => assert.equal(delay(1, headers), expected));
  }
});

Deno.test("without advice the wait doubles from half a second to eight, less up to a quarter", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 50].map((attempt) => delay(attempt, {})), [
    500,
    1000,
    2000,
    4000,
    8000,
    8000,
    8000,
  ]);
  assert.equal(delay(1, {}, 0.5), 438);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (
        attempt,
        random,
      ) => {
        const full = delay(attempt, {});
        const taken = delay(attempt, {}, random);
        assert.ok(taken <= full && taken >= full * 0.75 - 1);
      },
    ),
  );
  assert.equal(retryDelay(1, { headers: undefined, now: NOW, random: 0 }), 500);
});

Deno.test("the server's advice decides, but a spent quota is never tried again", () => {
  const advice = (value: string) => new Headers({ "x-should-retry": value });
  assert.equal(mayRetry(failure("rate_limited", true), undefined), true);
  assert.equal(mayRetry(failure("request_refused", false), undefined), false);
  assert.equal(mayRetry(failure("request_refused", false), advice("true")), true);
  assert.equal(mayRetry(failure("provider_failed", true), advice("false")), false);
  assert.equal(mayRetry(failure("provider_failed", true), advice("maybe")), true);
  assert.equal(mayRetry(failure("quota_exhausted", true), advice("true")), false);
});

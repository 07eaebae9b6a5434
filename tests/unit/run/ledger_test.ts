import assert from "node:assert/strict";
import { requestsIn } from "../../../src/run/ledger.ts";

const FINGERPRINT = { provider: "openai", endpoint: "1f3a9c02", account: null, key: "0123456789abcdef" };
const USAGE = { input_tokens: 100, input_tokens_details: { cached_tokens: 40 }, output_tokens: 7 };
const COUNTS = { input_tokens: 100, cached_tokens: 40, output_tokens: 7, reasoning_tokens: 0 };
const TURN = {
  session: "s",
  turn: 2,
  kind: "model",
  run: 1,
  at: "2026-11-21T12:00:00.000Z",
  model: { asked: "gpt-5", answered: "gpt-5-2025-08-07" },
  fingerprint: FINGERPRINT,
  events: [{ seq: 2, type: "provider_usage", usage: USAGE }],
};
const REQUEST = {
  session: "s",
  turn: 2,
  run: 1,
  at: TURN.at,
  provider: "openai",
  asked: "gpt-5",
  answered: "gpt-5-2025-08-07",
  paid: true,
  tier: null,
  usage: COUNTS,
};

Deno.test("a model turn is one request, with its tokens by the rules of its provider", () => {
  assert.deepEqual(requestsIn(TURN), [REQUEST]);
});

Deno.test("an answer without usage is a request of unknown tokens", () => {
  assert.deepEqual(requestsIn({ ...TURN, events: [] }), [{ ...REQUEST, usage: null }]);
});

Deno.test("an answer without the hash of a key was played and not paid, unless its servers need no key", () => {
  const { key: _key, ...played } = FINGERPRINT;
  assert.equal(requestsIn({ ...TURN, fingerprint: played })[0]?.paid, false);
  assert.equal(requestsIn({ ...TURN, fingerprint: { ...played, provider: "compatible" } })[0]?.paid, true);
});

Deno.test("a checkpoint that a model or the provider wrote is a request too; one by rule is none", () => {
  const { model, fingerprint } = TURN;
  const checkpoint = (event: object) => ({
    ...TURN,
    kind: "compaction",
    model: undefined,
    fingerprint: undefined,
    events: [{ seq: 2, type: "history_compaction", ...event }],
  });
  assert.deepEqual(requestsIn(checkpoint({ request: { model, fingerprint, usage: USAGE } })), [REQUEST]);
  assert.deepEqual(
    requestsIn(checkpoint({ request: { model, usage: USAGE }, origin: { model, fingerprint } })),
    [REQUEST],
  );
  assert.deepEqual(requestsIn(checkpoint({})), []);
});

Deno.test("a file of unknown shape holds no request that could be priced", () => {
  assert.deepEqual(requestsIn({ kind: "tools", events: "none" }), []);
  const [request] = requestsIn({ kind: "model", events: [null, { type: "provider_usage", usage: 3 }] });
  assert.deepEqual([request?.provider, request?.usage, request?.paid], [null, null, false]);
});

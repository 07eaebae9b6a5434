import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { classifyStreamError } from "../../../src/apis/failure.ts";

const JSON_TYPE = new Headers({ "content-type": "application/json" });

function judge(status: number, error: JsonObject | string) {
  return responsesApi.classify(status, JSON_TYPE, JSON.stringify({ error }));
}

Deno.test("an HTTP error is judged by status, code, type and words", async (t) => {
  const invalid = { type: "invalid_request_error", code: null, param: "input" };
  const rows: [string, number, JsonObject | string, string, boolean][] = [
    [
      "pairing errors have no code",
      400,
      {
        ...invalid,
        message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      },
      "request_refused",
      false,
    ],
    [
      "blob of another organization",
      400,
      {
        message: "The encrypted content for item rs_1 could not be verified.",
        code: "invalid_encrypted_content",
      },
      "request_refused",
      false,
    ],
    [
      "not persisted",
      404,
      { ...invalid, message: "Item with id 'rs_1' not found." },
      "request_refused",
      false,
    ],
    ["unknown model", 404, { message: "no such model", code: "model_not_found" }, "request_refused", false],
    ["wrong key", 401, { message: "Incorrect API key", code: "invalid_api_key" }, "unauthorized", false],
    ["country", 403, { message: "no", code: "unsupported_country" }, "unauthorized", false],
    ["request timeout", 408, { message: "slow" }, "request_refused", true],
    ["conflict", 409, { message: "busy" }, "request_refused", true],
    ["rate limit", 429, { message: "slow down", code: "rate_limit_exceeded" }, "rate_limited", true],
    ["slow_down", 429, { message: "slow down", code: "slow_down" }, "rate_limited", true],
    ["429 without a code", 429, "Too many requests", "rate_limited", true],
    [
      "code as a number (OpenRouter)",
      429,
      { code: 429, message: "Provider returned error" },
      "rate_limited",
      true,
    ],
    [
      "spent quota",
      429,
      { message: "spent", type: "insufficient_quota", code: "insufficient_quota" },
      "quota_exhausted",
      false,
    ],
    [
      "quota named by type only",
      429,
      { message: "spent", type: "insufficient_quota", code: null },
      "quota_exhausted",
      false,
    ],
    ["no credit", 429, { message: "spent", code: "credit_balance_exhausted" }, "quota_exhausted", false],
    [
      "organization's limit",
      429,
      { message: "x", code: "organization_spend_limit_exceeded" },
      "quota_exhausted",
      false,
    ],
    [
      "project's limit",
      429,
      { message: "x", code: "project_spend_limit_exceeded" },
      "quota_exhausted",
      false,
    ],
    [
      "usage limit",
      429,
      { message: "x", code: "organization_usage_limit_exceeded" },
      "quota_exhausted",
      false,
    ],
    ["payment required", 402, { message: "Insufficient Balance" }, "quota_exhausted", false],
    [
      "context code",
      400,
      { message: "too long", code: "context_length_exceeded" },
      "context_overflow",
      false,
    ],
    [
      "context in words",
      400,
      {
        ...invalid,
        message: "Your input exceeds the context window of this model.",
      },
      "context_overflow",
      false,
    ],
    [
      "context in words of other servers",
      400,
      "maximum context length is 8192 tokens",
      "context_overflow",
      false,
    ],
    ["server error", 500, { message: "x", type: "server_error" }, "provider_failed", true],
    [
      "a server error that mentions the context",
      500,
      { message: "context window lookup failed" },
      "provider_failed",
      true,
    ],
    ["overload", 503, { message: "x", code: "server_is_overloaded" }, "provider_failed", true],
    ["overload of others", 529, { message: "x", type: "overloaded_error" }, "provider_failed", true],
    ["gateway timeout", 504, { message: "x", type: "timeout_error" }, "provider_failed", true],
    ["no money", 402, { message: "x", type: "billing_error" }, "quota_exhausted", false],
    ["too many bytes", 413, { message: "x", type: "request_too_large" }, "request_refused", false],
    ["unknown model (Messages)", 404, { message: "x", type: "not_found_error" }, "request_refused", false],
    ["conflict (Messages)", 409, { message: "x", type: "conflict_error" }, "request_refused", true],
    ["no rights (Messages)", 403, { message: "x", type: "permission_error" }, "unauthorized", false],
    ["rate limit (Messages)", 429, { message: "x", type: "rate_limit_error" }, "rate_limited", true],
    [
      "prompt too long (Messages)",
      400,
      { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
      "context_overflow",
      false,
    ],
    [
      "prompt and answer too long (Messages)",
      400,
      {
        type: "invalid_request_error",
        message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
      },
      "context_overflow",
      false,
    ],
  ];
  for (const [name, status, error, code, retryable] of rows) {
    await t.step(name, () => {
      const failure = judge(status, error);
      assert.deepEqual([failure.code, failure.retryable, failure.status], [code, retryable, status]);
    });
  }
});

Deno.test("an error in the stream is judged by its code, then its type, then its message", async (t) => {
  const rows: [JsonObject, string, boolean][] = [
    [{ code: "insufficient_quota", message: "x" }, "quota_exhausted", false],
    [{ code: "usage_not_included", message: "x" }, "quota_exhausted", false],
    [{ code: "rate_limit_exceeded", message: "try again in 1.3s" }, "rate_limited", true],
    [{ code: "slow_down", message: "x" }, "rate_limited", true],
    [{ code: "server_is_overloaded", message: "x" }, "provider_failed", true],
    [{ code: "server_error", message: "x" }, "provider_failed", true],
    [{ code: "context_length_exceeded", message: "x" }, "context_overflow", false],
    [{ code: "invalid_prompt", message: "x" }, "request_refused", false],
    [{ code: "invalid_encrypted_content", message: "x" }, "request_refused", false],
    [{ code: null, type: "invalid_request_error", message: "x" }, "request_refused", false],
    [
      { code: null, type: "invalid_request_error", message: "exceeds the context window" },
      "context_overflow",
      false,
    ],
    [{ type: "overloaded_error", message: "Overloaded" }, "provider_failed", true],
    [{ type: "timeout_error", message: "x" }, "provider_failed", true],
    [{ type: "timeout_error", message: "no time for the context window" }, "provider_failed", true],
    [{ type: "api_error", message: "x" }, "provider_failed", true],
    [{ type: "rate_limit_error", message: "x" }, "rate_limited", true],
    [{ type: "billing_error", message: "x" }, "quota_exhausted", false],
    [{ type: "authentication_error", message: "x" }, "unauthorized", false],
    [{ type: "request_too_large", message: "x" }, "request_refused", false],
    [{ type: "conflict_error", message: "x" }, "request_refused", false],
    [{ type: "not_found_error", message: "x" }, "request_refused", false],
    [{ code: "401", message: "x" }, "unauthorized", false],
    [{ code: null, message: "x" }, "provider_failed", true],
    [{ code: "never_seen", message: "x" }, "provider_failed", true],
    [{}, "provider_failed", true],
  ];
  for (const [error, code, retryable] of rows) {
    await t.step(JSON.stringify(error), () => {
      const failure = classifyStreamError(error);
      assert.deepEqual([failure.code, failure.retryable, failure.status], [code, retryable, null]);
    });
  }
});

Deno.test("messages say what was refused, in one line, with code and parameter", () => {
  assert.equal(
    judge(400, {
      message: "Unsupported parameter:\n 'reasoning.effort' is not supported with this model.",
      type: "invalid_request_error",
      param: "reasoning.effort",
      code: "unsupported_parameter",
    }).message,
    'The API refused the request (HTTP 400, "unsupported_parameter", parameter "reasoning.effort"): ' +
      "Unsupported parameter: 'reasoning.effort' is not supported with this model",
  );
});

Deno.test("other shapes of error bodies are read too", () => {
  const messageOf = (body: string) => responsesApi.classify(404, JSON_TYPE, body).message;
  assert.match(messageOf('{"detail":"Not Found"}'), /: Not Found$/);
  assert.match(messageOf('{"message":"nothing here","code":"nope"}'), /"nope"\): nothing here$/);
  assert.match(messageOf('{"error":"model not found"}'), /: model not found$/);
  assert.match(messageOf('{"error":{"message":17}}'), /: "\{\\"error\\"/);
  assert.match(messageOf(""), /: an empty body$/);
  assert.match(messageOf("null"), /: "null"$/);
});

Deno.test("a body that is not JSON is quoted, short and without tags, escapes and keys", () => {
  const html = "<html><head><title>502 Bad Gateway</title></head>\n<body>\x1b[31mnginx " + "x".repeat(5000);
  const failure = responsesApi.classify(502, new Headers({ "content-type": "text/html" }), html);
  assert.equal(failure.code, "provider_failed");
  assert.match(failure.message, /: "502 Bad Gateway \[31mnginx x+…"$/);
  assert.ok(failure.message.length < 260 && !failure.message.includes("\x1b"));
  for (const leak of ["sk-proj-abcdefghijkl", "Bearer abc.def"]) {
    const reported = judge(401, { message: `Incorrect API key provided: ${leak}.` }).message;
    assert.ok(!reported.includes("abc"), reported);
  }
});

Deno.test("a 2xx answer that is no event stream is a bad stream, whatever it says", () => {
  const html = responsesApi.classify(
    200,
    new Headers({ "content-type": "text/html; charset=utf-8" }),
    "<p>Login</p>",
  );
  assert.equal(html.message, 'The server answered with "text/html" instead of "text/event-stream": "Login"');
  const json = judge(200, { message: "Provider returned error", code: 429 });
  assert.equal(
    json.message,
    'The server answered with "application/json" instead of "text/event-stream": Provider returned error',
  );
  const empty = responsesApi.classify(204, new Headers(), "");
  assert.equal(
    empty.message,
    'The server answered with no content type instead of "text/event-stream": an empty body',
  );
  for (const failure of [html, json, empty]) {
    assert.deepEqual([failure.code, failure.retryable], ["bad_stream", false]);
  }
  assert.equal(json.providerCode, "429");
});

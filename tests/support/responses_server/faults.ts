import type { ScriptedResponse } from "./script.ts";

const encoder = new TextEncoder();
const CREATED = 'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":' +
  '{"id":"resp_fault","object":"response","status":"in_progress","output":[]}}\n\n';

/** An error answer in the API's shape (protocol §6.1). */
export function httpError(
  status: number,
  error: {
    readonly message: string;
    readonly type?: string;
    readonly param?: string;
    readonly code?: string;
  },
  headers: Readonly<Record<string, string>> = {},
): ScriptedResponse {
  const body = {
    error: {
      message: error.message,
      type: error.type ?? "invalid_request_error",
      param: error.param ?? null,
      code: error.code ?? null,
    },
  };
  return {
    kind: "http",
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** 429, worth waiting for; `retryAfter` as the header says it. */
export function rateLimited(options: { readonly retryAfter?: string } = {}): ScriptedResponse {
  return httpError(
    429,
    { message: "Rate limit reached for requests.", type: "requests", code: "rate_limit_exceeded" },
    options.retryAfter === undefined ? {} : { "retry-after": options.retryAfter },
  );
}

/** 429, not worth waiting for. */
export function quotaExhausted(): ScriptedResponse {
  return httpError(429, {
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  });
}

/** 401. */
export function unauthorized(): ScriptedResponse {
  return httpError(401, { message: "Incorrect API key provided.", code: "invalid_api_key" });
}

/** 500. */
export function serverError(): ScriptedResponse {
  return httpError(500, {
    message: "The server had an error while processing your request.",
    type: "server_error",
    code: "server_error",
  });
}

/** 200 with a web page, as captive portals and wrong URLs give. */
export function htmlPage(): ScriptedResponse {
  return {
    kind: "http",
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!doctype html><title>Welcome</title><p>Sign in to go on",
  };
}

/** A redirect to another address. */
export function redirect(location: string, status = 307): ScriptedResponse {
  return { kind: "http", status, headers: { location }, body: "" };
}

/** A stream that continues with a byte that is not UTF-8. */
export function invalidUtf8(): ScriptedResponse {
  const before = encoder.encode(
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"',
  );
  const after = encoder.encode('"}\n\n');
  return {
    kind: "bytes",
    chunks: [encoder.encode(CREATED), before, new Uint8Array([0x61, 0xff, 0x62]), after],
  };
}

/** A stream with one line of at least `bytes` bytes that never ends. */
export function endlessLine(bytes: number): ScriptedResponse {
  const block = encoder.encode("x".repeat(64 * 1024));
  const count = Math.ceil(bytes / block.length);
  return {
    kind: "bytes",
    chunks: [encoder.encode(`${CREATED}data: {"delta":"`), ...Array(count).fill(block)],
  };
}

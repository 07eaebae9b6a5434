/**
 * The meaning of a failure: one code for each kind, from HTTP status, error code, type and text
 * (protocol §3.5, §6.2, §6.3, §11).
 */
import type { ApiFailure, ErrorCode } from "../domain/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  parsedObject,
  stringMember,
} from "../domain/json.ts";
import { words } from "../domain/text.ts";
import { excerptOf, oneLine, quoted } from "./message.ts";

interface ErrorFacts {
  readonly message: string | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
}

const NO_FACTS: ErrorFacts = { message: null, code: null, type: null, param: null };

/** The codes and types of errors by what they mean (§6.3). Waiting does not fix an exhausted quota. */
const WORDS: { readonly [code in ErrorCode]?: readonly string[] } = {
  quota_exhausted: words(`
    insufficient_quota credit_balance_exhausted organization_spend_limit_exceeded
    organization_usage_limit_exceeded project_spend_limit_exceeded billing_hard_limit_reached
    billing_error billing_not_active usage_limit_reached usage_not_included 402
  `),
  rate_limited: words("rate_limit_exceeded rate_limit_error slow_down too_many_requests 429"),
  unauthorized: words(`
    authentication_error invalid_api_key invalid_authentication ip_not_authorized permission_denied
    permission_error unsupported_country unsupported_country_region_territory 401 403
  `),
  provider_failed: words(`
    api_error internal_error internal_server_error overloaded_error server_error server_is_overloaded
    service_unavailable service_unavailable_error timeout_error
  `),
  request_refused: words(`
    conflict_error invalid_encrypted_content invalid_prompt invalid_request_error invalid_value
    missing_required_parameter model_not_found not_found_error previous_response_not_found
    request_too_large unknown_parameter unsupported_parameter
  `),
};
const CODES: ReadonlyMap<string | null, ErrorCode> = new Map(
  Object.entries(WORDS).flatMap(([code, list]) => list.map((word) => [word, code as ErrorCode])),
);
/** Texts of servers that send no code. */
const CONTEXT_OVERFLOW =
  /context window|maximum context|context[ _]length|context[ _]size|prompt is too long|exceeds? context limit/i;

/**
 * Judges an answer that is not an event stream. A 2xx answer is `bad_stream`, because the request accepts only an
 * event stream, whatever error its body holds.
 */
export function classifyAnswer(status: number, headers: Headers, bodyText: string): ApiFailure {
  const body = parsedObject(bodyText);
  const facts = (body === null ? undefined : errorFactsIn(body)) ?? NO_FACTS;
  const said = facts.message === null ? excerptOf(bodyText) : oneLine(facts.message);
  if (status < 400) {
    const contentType = headers.get("content-type")?.split(";")[0]?.trim();
    const got = contentType ? quoted(contentType) : "no content type";
    const message = `The server answered with ${got} instead of "text/event-stream": ${said}`;
    return failure("bad_stream", message, { status, facts, retryable: false });
  }
  const code = codeOfStatus(status, facts);
  return failure(code, `${LEAD[code] ?? "The API failed"} (HTTP ${status}${labelOf(facts)}): ${said}`, {
    status,
    facts,
    retryable: code !== "quota_exhausted" &&
      (status === 408 || status === 409 || status === 429 || status >= 500),
  });
}

/**
 * Judges an error that came inside a stream, after HTTP 200: its `code` first, then its `type` and its text, then the
 * status that it names. `event` is an `error` event of any shape, or the event of a failed response (§3.5, §8.5, §10).
 */
export function classifyErrorEvent(event: JsonObject): ApiFailure {
  const facts = errorFactsIn(event) ?? factsOf({ ...event, type: undefined });
  const { status = objectMember(event, "error")?.status_code } = event;
  const isStatus = typeof status === "number" && status >= 400 && status <= 599;
  const code = codeOfWords(facts) ?? (isStatus ? codeOfStatus(status, facts) : "provider_failed");
  const said = facts.message === null ? "it gave no reason" : oneLine(facts.message);
  return failure(code, `${LEAD[code] ?? "The API failed"} (in the stream${labelOf(facts)}): ${said}`, {
    facts,
    retryable: code === "rate_limited" || code === "provider_failed",
  });
}

/** The stream ended before its terminal event. */
export function cutFailure(): ApiFailure {
  return ownFailure("stream_cut", "The stream ended before the response was complete");
}

/** The failure of an event that is no JSON object; `start` is its beginning. */
export function brokenFailure(start: string): ApiFailure {
  return ownFailure("bad_stream", `The stream holds an event that is not a JSON object: ${quoted(start)}`);
}

/** The failure of a stream that repeats itself or lost an event: what it showed is not what the model said. */
export function damagedFailure(what: string): ApiFailure {
  return ownFailure("bad_stream", `The stream ${what}`);
}

/** A failure that the program itself found in the stream. */
export function ownFailure(
  code: "stream_cut" | "bad_stream" | "provider_failed",
  message: string,
): ApiFailure {
  return failure(code, message, { facts: NO_FACTS, retryable: code !== "bad_stream" });
}

const LEAD: { readonly [code in ErrorCode]?: string } = {
  unauthorized: "The API refused the key or its rights",
  rate_limited: "The API limits the rate of requests",
  quota_exhausted: "The account's quota is used up",
  context_overflow: "The history does not fit the model's context window",
  request_refused: "The API refused the request",
  fixture_miss: "No recorded exchange answers the request",
  provider_failed: "The provider failed",
};

function failure(code: ErrorCode, message: string, { status = null, facts, retryable }: {
  readonly status?: number | null;
  readonly facts: ErrorFacts;
  readonly retryable: boolean;
}): ApiFailure {
  const { code: providerCode, type: providerType, param } = facts;
  return { code, message, status, providerCode, providerType, param, retryable };
}

function codeOfStatus(status: number, facts: ErrorFacts): ErrorCode {
  const known = codeOfWords(facts);
  if (known === "fixture_miss") return known;
  if (known === "context_overflow" && status < 500 && status !== 401 && status !== 403) return known;
  if (status === 402 || (status === 429 && known === "quota_exhausted")) return "quota_exhausted";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 429) return "rate_limited";
  return status >= 500 ? "provider_failed" : "request_refused";
}

/** True if code or type says that the server failed, so that the text refuses nothing. */
export function isServerFault({ providerCode, providerType }: ApiFailure): boolean {
  return [providerCode, providerType].some((word) => CODES.get(word) === "provider_failed");
}

/** The error code for a code, type and text; `undefined` if all are unknown. */
export function codeOfWords(facts: ErrorFacts): ErrorCode | undefined {
  const { code, type, message } = facts;
  // A miss of `serve` names a place of the request, and the name of a place may read as anything.
  if (code === "fixture_miss" || type === "fixture_miss") return "fixture_miss";
  if (code === "context_length_exceeded") return "context_overflow";
  const known = CODES.get(code) ?? CODES.get(type);
  if (known !== undefined && known !== "request_refused") return known;
  return message !== null && CONTEXT_OVERFLOW.test(message) ? "context_overflow" : known;
}

/** Types of the events around an error, which say nothing about it. */
const ENVELOPES: ReadonlySet<string> = new Set(["error", "response.error", "response.failed"]);

/**
 * The facts of the error in an envelope of any kind: the body of an answer, an `error` event, nested or flat, a failed
 * response or its event. `undefined` if it holds none.
 */
function errorFactsIn(envelope: JsonObject): ErrorFacts | undefined {
  const { error, response, detail } = envelope;
  if (isJsonObject(error)) return factsOf(error);
  if (typeof error === "string") return { ...NO_FACTS, message: error };
  if (isJsonObject(response)) return errorFactsIn(response);
  const details = detailFacts(detail);
  if (details !== undefined) return details;
  const message = stringMember(envelope, "message") ?? stringMember(envelope, "detail");
  if (message === undefined) return undefined;
  const facts = factsOf(envelope);
  return { ...facts, message, type: facts.type !== null && ENVELOPES.has(facts.type) ? null : facts.type };
}

/**
 * Facts of FastAPI's `{"detail": [{"type", "loc", "msg"}]}`, which such a server sends for a request of the wrong
 * shape. The place is that of the first problem inside the input; all problems are reported.
 */
function detailFacts(detail: JsonValue | undefined): ErrorFacts | undefined {
  if (isJsonObject(detail)) {
    return stringMember(detail, "message") === undefined ? undefined : factsOf(detail);
  }
  if (!Array.isArray(detail)) return undefined;
  const problems = detail.filter(isJsonObject).flatMap((problem) => {
    const message = stringMember(problem, "msg") ?? stringMember(problem, "message");
    return message === undefined
      ? []
      : [{ message, place: placeOf(problem.loc), code: textOf(problem.type) }];
  });
  const first = problems.find(({ place }) => place !== null && /^input\[/.test(place)) ?? problems[0];
  if (first === undefined) return undefined;
  const texts = problems.map(({ message, place }) => place === null ? message : `${message} (${place})`);
  return { message: texts.join("; "), code: first.code, type: null, param: first.place };
}

/** `input[3].content` from `["body", "input", 3, "ReasoningItem", "content"]` (without type names). */
function placeOf(loc: JsonValue | undefined): string | null {
  if (!Array.isArray(loc)) return null;
  const steps = (loc[0] === "body" ? loc.slice(1) : loc).map((step: JsonValue) => {
    if (typeof step === "number") return `[${step}]`;
    return typeof step === "string" && /^[a-z_]\w{0,63}$/.test(step) ? `.${step}` : "";
  });
  const place = steps.join("").replace(/^\./, "");
  return place === "" ? null : place;
}

function factsOf(error: JsonObject): ErrorFacts {
  return {
    message: typeof error.message === "number" ? null : textOf(error.message),
    code: textOf(error.code),
    type: textOf(error.type),
    param: textOf(error.param),
  };
}

/** A code may be a number, and an absent one may be `null` or the empty string. */
function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

function labelOf(facts: ErrorFacts): string {
  const code = facts.code ?? facts.type;
  return [
    ...(code === null ? [] : [`, ${quoted(code)}`]),
    ...(facts.param === null ? [] : [`, parameter ${quoted(facts.param)}`]),
  ].join("");
}

/** Codes and types of errors by their HTTP status (protocol §6.3, §11). */
const STATUSES: ReadonlyMap<string | undefined, number> = new Map(
  Object.entries({
    401: "authentication_error invalid_api_key",
    402: "billing_error",
    403: "permission_error unsupported_country ip_not_authorized",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error rate_limit_exceeded slow_down insufficient_quota",
    500: "api_error server_error",
    503: "server_is_overloaded service_unavailable_error",
    504: "timeout_error",
    529: "overloaded_error",
  }).flatMap(([status, list]) => words(list).map((word) => [word, Number(status)])),
);

/** The error in a body of any API, `{"error":{…}}`; `null` if there is none. */
export function errorIn(body: JsonObject): JsonObject | null {
  return isJsonObject(body.error) ? body.error : null;
}

/** The HTTP status of an error: by its code, else by its type; 400 if no API lists either. */
export function statusOfError(error: JsonObject): number {
  return STATUSES.get(stringMember(error, "code")) ?? STATUSES.get(stringMember(error, "type")) ?? 400;
}

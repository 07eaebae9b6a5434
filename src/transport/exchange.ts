/** One exchange up to its first event: status, content type and retries (protocol §6.4). */
import { type ApiFailure, RepriseError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports.ts";
import { connectionFailure, failureError, withoutSecrets } from "./failure.ts";
import {
  discard,
  type HttpResponse,
  isEventStreamType,
  type OutgoingRequest,
  readText,
  type Send,
} from "./http.ts";
import { readSse, type SseEvent } from "./sse.ts";

/** An answer whose first event has arrived. */
export interface EventStream extends Omit<HttpResponse, "body"> {
  /**
   * All events, the first included, in batches. Can be iterated once. Reaching the end, or `return()`, releases the
   * connection. Rejects with a {@linkcode RepriseError}, or with the reason of the aborted signal.
   */
  readonly events: AsyncIterable<readonly SseEvent[]>;
}

/** A retry, reported before the wait for it. */
export interface RetryInfo {
  /** 1 for the first retry. */
  readonly attempt: number;
  readonly delayMs: number;
  /** Failure of the previous attempt. */
  readonly failure: ApiFailure;
}

interface ExchangeOptions {
  readonly send: Send;
  readonly request: OutgoingRequest;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A number in [0, 1), for the jitter. */
  readonly random: () => number;
  /** Classifies an answer that is not an event stream, by the provider's rules. */
  readonly classify: (status: number, headers: Headers, bodyText: string) => ApiFailure;
  /** Returns the milliseconds that a wait for a retry must stay below. */
  readonly waitLimit: () => number;
  readonly onRetry?: (info: RetryInfo) => void;
}

export interface StreamRead<T> {
  readonly result: T;
  /** The failure that the server reported in the stream before it began an answer; `null` for none. */
  readonly failure: ApiFailure | null;
}

const MAX_RETRIES = 2;
/** Part of an error body that is read, in bytes. */
const ERROR_BODY_BYTES = 256 * 1024;

/**
 * Sends the request, and returns the result of `read`, which gets the stream once its first event has arrived. A failure
 * before the first event may be retried, and so may one that `read` returns; a later failure is not. A stream that ends
 * without any event counts as a broken connection.
 *
 * @throws {RepriseError} with the failure's code for an answer that is not an event stream, `redirected` for a
 * redirect, and the errors of `send`; the reason of `signal` once that aborts.
 */
export async function readEventStream<T>(
  options: ExchangeOptions,
  read: (stream: EventStream) => Promise<StreamRead<T>>,
): Promise<T> {
  const { signal, clock } = options;
  for (let attempt = 1;; attempt++) {
    const answer = await open(options);
    const outcome = "error" in answer ? answer : await read(answer);
    const { failure } = outcome;
    const delayMs = failure === null || signal.aborted
      ? null
      : retryDelay(options, { attempt, failure, headers: answer.headers });
    if (failure === null || delayMs === null) {
      if ("result" in outcome) return outcome.result;
      throw signal.aborted ? signal.reason : outcome.error;
    }
    options.onRetry?.({ attempt, delayMs, failure });
    // Aborting ends the sleep; the next attempt then rejects before it sends anything.
    await clock.sleep(delayMs, signal);
  }
}

/** The milliseconds before the request is sent again; `null` if it is not. */
function retryDelay(options: ExchangeOptions, { attempt, failure, headers }: FailedAttempt): number | null {
  if (attempt > MAX_RETRIES || !mayRetry(failure, headers)) return null;
  const now = options.clock.now();
  const asked = askedWait(headers, failure, () => now);
  if (asked !== null && asked > 0 && asked >= options.waitLimit()) return null;
  return asked ?? backoff(attempt, options.random());
}

interface FailedAttempt {
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly failure: ApiFailure;
  /** Those of the answer; `undefined` if none came. */
  readonly headers: Headers | undefined;
}

/** The error of an attempt without a stream. */
type NoStream = Omit<FailedAttempt, "attempt"> & { readonly error: RepriseError };

async function open(options: ExchangeOptions): Promise<EventStream | NoStream> {
  let headers: Headers | undefined;
  try {
    const { body, ...answer } = await options.send(options.request, options.signal);
    headers = answer.headers;
    if (answer.status >= 300 && answer.status < 400) {
      await discard(body);
      throw redirected(options.request, answer);
    }
    if (answer.status < 300 && isEventStreamType(headers.get("content-type"))) {
      return { ...answer, events: await untilFirstEvent(readSse(body)) };
    }
    const text = withoutSecrets(await readText(body, ERROR_BODY_BYTES), options.request.headers);
    const failure = options.classify(answer.status, headers, text);
    const waitMs = askedWait(headers, failure, () => options.clock.now());
    return { error: failureError(failure, { requestId: requestIdOf(headers), waitMs }), failure, headers };
  } catch (error) {
    // Programming errors and the caller's own reason for aborting are not failures of the exchange.
    if (!(error instanceof RepriseError) || options.signal.aborted) throw error;
    return { error, failure: connectionFailure(error), headers };
  }
}

/** The request's id for the provider's support, from the header of OpenAI, Anthropic or Azure's gateway. */
function requestIdOf(headers: Headers): string | null {
  return headers.get("x-request-id") ?? headers.get("request-id") ?? headers.get("apim-request-id");
}

/** Names only the target's origin: the rest of the URL may hold a token. */
function redirected(request: OutgoingRequest, { status, headers }: Omit<HttpResponse, "body">): RepriseError {
  const target = URL.parse(headers.get("location") ?? "", request.url)?.origin ?? "an unreadable address";
  const { origin, pathname } = new URL(request.url);
  return new RepriseError(
    "redirected",
    `Cannot use ${origin}${pathname}: it redirects to ${target} (HTTP ${status})`,
    {
      hint: "Redirects are not followed, because the key must not go elsewhere: set the final base URL",
      details: { status },
    },
  );
}

async function untilFirstEvent(
  events: AsyncIterableIterator<readonly SseEvent[], undefined>,
): Promise<AsyncIterable<readonly SseEvent[]>> {
  const first = await events.next();
  if (first.done) {
    throw new RepriseError("stream_cut", "The stream ended before its first event", {
      hint: 'Try again later with "reprise run -c"; nothing that was saved is lost',
    });
  }
  let pending: IteratorResult<readonly SseEvent[], undefined> | undefined = first;
  const iterator: AsyncIterator<readonly SseEvent[], undefined> = {
    next() {
      if (pending === undefined) return events.next();
      const result = pending;
      pending = undefined;
      return Promise.resolve(result);
    },
    async return() {
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** True if the failed request may be retried. An exhausted quota is never retried, whatever a header says. */
function mayRetry(failure: ApiFailure, headers: Headers | undefined): boolean {
  if (failure.code === "quota_exhausted") return false;
  const advice = headers?.get("x-should-retry");
  if (advice === "true") return true;
  if (advice === "false") return false;
  return failure.retryable;
}

/** Milliseconds before retry number `attempt` (1, 2, …): `min(0.5 · 2^(attempt − 1), 8)` seconds, less up to a quarter. */
function backoff(attempt: number, random: number): number {
  return Math.round(Math.min(500 * 2 ** (attempt - 1), 8_000) * (1 - 0.25 * random));
}

/** A date as HTTP writes it, or in ISO form: `Date.parse` finds dates in other texts too. */
const DATE =
  /^(?:[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT|\d{4}-\d\d-\d\dT[\d:.]+Z)$/;
/** The oldest of the three forms of HTTP, in UTC without saying so. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
/** The wait in the text of a rate limit: `20s`, `3.05s`, `120ms`, `6m0s`, `27 seconds`. */
const WAIT_TEXT =
  /(?:try again in|retry after) ((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|s(?:econds?)?|m(?:inutes?)?|h(?:ours?)?)(?![a-z]))+)/i;
/** Milliseconds of the units in it, by their beginnings. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Milliseconds that the server asks to wait, by its headers or else by the text of a rate limit; `null` if it asks for
 * none, or for a time that has passed, and for a quota, which no wait restores.
 */
function askedWait(headers: Headers | undefined, failure: ApiFailure, now: () => number): number | null {
  if (failure.code === "quota_exhausted") return null;
  const milliseconds = numberOf(headers?.get("retry-after-ms"));
  if (milliseconds !== null) return Math.round(milliseconds);
  const after = headers?.get("retry-after")?.trim() ?? "";
  // A header that came twice is a list.
  const seconds = after.split(",").map((each) => numberOf(each.replace(/s$/, "")));
  if (!seconds.includes(null)) return Math.round(Math.max(...seconds as number[]) * 1000);
  const isDate = DATE.test(after) || ASCTIME.test(after);
  const until = isDate ? Date.parse(ASCTIME.test(after) ? `${after} GMT` : after) - now() : NaN;
  if (until >= 0) return Math.ceil(until);
  return failure.code === "rate_limited" ? waitIn(failure.message) : null;
}

/** The wait in the text of an error; `null` if it names none. */
function waitIn(message: string): number | null {
  const text = WAIT_TEXT.exec(message)?.[1];
  if (text === undefined) return null;
  const parts = text.matchAll(/(\d+(?:\.\d+)?) ?(ms|milli|[a-z])/gi);
  return Math.ceil(
    parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit.toLowerCase()] ?? 1), 0),
  );
}

function numberOf(text: string | null | undefined): number | null {
  return text && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

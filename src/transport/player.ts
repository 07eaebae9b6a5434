/** Recorded exchanges played back in sequence: no socket is opened. */
import { RepriseError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports.ts";
import { counted } from "../domain/text.ts";
import type { HttpResponse, Send } from "./http.ts";
import { answerTimeoutError, cutAnswerError, noAnswerError, stalledError } from "./failure.ts";

/** An interruption by a fault, between the chunks of a body or after the last one. */
export type Interruption =
  | { readonly waitMs: number }
  /** No more data comes, and the connection stays open. */
  | { readonly stall: true }
  /** The connection breaks. */
  | { readonly reset: true };

/** A recorded answer: its body in the recorded chunks, or as a fault changes them. */
export interface PlayedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly (Uint8Array | Interruption)[];
  /** The head comes with the first bytes: interruptions before them leave the request without an answer. */
  readonly isLate?: true;
  /** The connection broke off after the last chunk. */
  readonly cut?: true;
}

export interface PlayerOptions {
  /** Sleeps for the waits of an exchange; without a clock, waits take no time. */
  readonly clock?: Pick<Clock, "sleep">;
}

/** Time for which a body may stay silent, as in the live transport: a longer wait is a cut. */
const IDLE_TIMEOUT_MS = 300_000;

/**
 * Answers requests with the exchanges in order, whatever the requests contain. No message names the fixture's folder:
 * messages enter turns, which must not depend on the folder. The returned function
 *
 * @throws {RepriseError} `fixture_miss` for a request after the last exchange.
 */
export function createPlayer(
  exchanges: readonly PlayedAnswer[],
  options: PlayerOptions = {},
): Send {
  let used = 0;
  return (request, signal) => {
    if (signal.aborted) return Promise.reject(signal.reason);
    const exchange = exchanges[used];
    if (exchange === undefined) {
      return Promise.reject(
        new RepriseError(
          "fixture_miss",
          `Cannot answer request ${used + 1} from the fixture: it holds ${
            counted(exchanges.length, "exchange")
          }`,
          { hint: "Record the fixture again, or play the run that it was recorded from" },
        ),
      );
    }
    used += 1;
    return playAnswer(exchange, { ...options, url: new URL(request.url), signal });
  };
}

/** Request that a recorded answer is played for. */
export interface PlayedRequest extends PlayerOptions {
  readonly url: URL;
  readonly signal: AbortSignal;
}

/** @throws {RepriseError} `network_failed` if no answer comes. */
export async function playAnswer(answer: PlayedAnswer, request: PlayedRequest): Promise<HttpResponse> {
  const { status, headers, chunks } = answer;
  if (!answer.isLate) return { status, headers: new Headers(headers), body: playBody(answer, request) };
  const { url, signal, clock } = request;
  for (const step of chunks) {
    if (step instanceof Uint8Array) break;
    if ("reset" in step) throw noAnswerError(url);
    if ("stall" in step) await aborted(signal);
    else await silence(step.waitMs, { signal, clock }, () => answerTimeoutError(url, IDLE_TIMEOUT_MS));
  }
  const body = chunks.filter((step) => step instanceof Uint8Array);
  return await playAnswer({ status, headers, chunks: body }, request);
}

/** Waits like a client, which gives up after some time. @throws the error of `tooLong`. */
async function silence(
  ms: number,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: PlayerOptions["clock"] | undefined },
  tooLong: () => RepriseError,
): Promise<void> {
  await clock?.sleep(Math.min(ms, IDLE_TIMEOUT_MS), signal);
  signal.throwIfAborted();
  if (ms >= IDLE_TIMEOUT_MS) throw tooLong();
}

async function* playBody(
  { chunks, cut }: PlayedAnswer,
  { url, signal, clock }: PlayedRequest,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    signal.throwIfAborted();
    if (chunk instanceof Uint8Array) yield chunk;
    else if ("reset" in chunk) throw cutAnswerError(url);
    else if ("stall" in chunk) await aborted(signal);
    else await silence(chunk.waitMs, { signal, clock }, () => stalledError(url, IDLE_TIMEOUT_MS));
  }
  if (cut === true) throw cutAnswerError(url);
}

/** Rejects with the reason of `signal` once that aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

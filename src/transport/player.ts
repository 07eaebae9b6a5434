/** Recorded exchanges played back in sequence: no socket is opened. */
import { RepriseError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports.ts";
import { counted } from "../domain/text.ts";
import type { HttpResponse, Send } from "./http.ts";
import { brokenOff, fellSilent } from "./failure.ts";

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
    return Promise.resolve(playAnswer(exchange, { ...options, url: new URL(request.url), signal }));
  };
}

/** Request that a recorded answer is played for. */
export interface PlayedRequest extends PlayerOptions {
  readonly url: URL;
  readonly signal: AbortSignal;
}

export function playAnswer(answer: PlayedAnswer, request: PlayedRequest): HttpResponse {
  return {
    status: answer.status,
    headers: new Headers(answer.headers),
    body: playBody(answer, request),
  };
}

async function* playBody(
  { chunks, cut }: PlayedAnswer,
  { url, signal, clock }: PlayedRequest,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    signal.throwIfAborted();
    if (chunk instanceof Uint8Array) yield chunk;
    else if ("reset" in chunk) throw brokenOff(url);
    else if ("stall" in chunk) await aborted(signal);
    else {
      await clock?.sleep(Math.min(chunk.waitMs, IDLE_TIMEOUT_MS), signal);
      signal.throwIfAborted();
      if (chunk.waitMs >= IDLE_TIMEOUT_MS) throw fellSilent(url, IDLE_TIMEOUT_MS);
    }
  }
  if (cut === true) throw brokenOff(url);
}

/** Rejects with the reason of `signal` once that aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

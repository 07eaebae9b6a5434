/** Recorded answers and their steps, and a player of them in the program itself: no socket is opened. */
import { RepriseError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports.ts";
import { counted } from "../domain/text.ts";
import type { HttpResponse, Send } from "./http.ts";
import { answerTimeoutError, cutAnswerError, noAnswerError, stalledError } from "./failure.ts";

/** One step of an answer on its way to a client. */
export type AnswerStep =
  | AnswerChunk
  /** A fault's wait, which no pace scales. */
  | { readonly waitMs: number }
  /** No more bytes come, and the connection stays open. */
  | { readonly stall: true }
  /** The connection breaks. */
  | { readonly reset: true }
  /** A WebSocket closes with this code; over HTTP, the connection breaks. */
  | { readonly close: number };

/** The bytes of a body from the end of the chunk before. */
export interface AnswerChunk {
  /** Offset after its last byte. */
  readonly end: number;
  /** Milliseconds from the request to the arrival of the recorded chunk. */
  readonly ms: number;
}

/** Answer as a client gets it. */
export interface PlayedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The chunks rise, and together are the body. No step follows a `stall`, `reset` or `close`. */
  readonly steps: readonly AnswerStep[];
  /** True if the head is sent with the first byte of the body; if that never comes, the client gets no byte at all. */
  readonly isLate?: true;
}

/** Returns the steps that bring bytes. */
export function answerChunks({ steps }: Pick<PlayedAnswer, "steps">): readonly AnswerChunk[] {
  return steps.filter((step) => "end" in step);
}

export interface PlayerOptions {
  /** Sleeps for the waits of faults; without a clock, they take no time. */
  readonly clock?: Pick<Clock, "sleep"> | undefined;
}

/** Time for which a body may stay silent, as in the live transport: a longer wait is a cut. */
const IDLE_TIMEOUT_MS = 300_000;

/**
 * Answers requests with the answers in order, whatever the requests contain. No message names the fixture's folder:
 * messages enter turns, which must not depend on the folder. The returned function
 *
 * @throws {RepriseError} `fixture_miss` for a request after the last answer.
 */
export function playInOrder(answers: readonly PlayedAnswer[], options: PlayerOptions = {}): Send {
  let used = 0;
  return async (request, signal) => {
    signal.throwIfAborted();
    const answer = answers[used];
    if (answer === undefined) {
      throw new RepriseError(
        "fixture_miss",
        `Cannot answer request ${used + 1} from the fixture: it holds ${counted(answers.length, "exchange")}`,
        { hint: "Record the fixture again, or play the run that it was recorded from" },
      );
    }
    used += 1;
    return await playAnswer(answer, { ...options, url: new URL(request.url), signal });
  };
}

interface Playing extends PlayerOptions {
  readonly url: URL;
  readonly signal: AbortSignal;
}

/** @throws {RepriseError} `network_failed` if no answer comes. */
export async function playAnswer(answer: PlayedAnswer, playing: Playing): Promise<HttpResponse> {
  const { status, headers, steps } = answer;
  const first = answer.isLate ? steps.findIndex((step) => "end" in step) : 0;
  const { url, signal } = playing;
  for (const step of first === -1 ? steps : steps.slice(0, first)) {
    if ("waitMs" in step) await silence(step.waitMs, playing, () => answerTimeoutError(url, IDLE_TIMEOUT_MS));
    else if ("stall" in step) await aborted(signal);
    else throw noAnswerError(url);
  }
  const body = playBody(answer, answer.isLate ? answerChunks(answer) : steps, playing);
  return { status, headers: new Headers(headers), body };
}

/** Waits like a client, which gives up after some time. @throws the error of `tooLong`. */
async function silence(
  ms: number,
  { signal, clock }: Playing,
  tooLong: () => RepriseError,
): Promise<void> {
  await clock?.sleep(Math.min(ms, IDLE_TIMEOUT_MS), signal);
  signal.throwIfAborted();
  if (ms >= IDLE_TIMEOUT_MS) throw tooLong();
}

async function* playBody(
  { body }: PlayedAnswer,
  steps: readonly AnswerStep[],
  playing: Playing,
): AsyncGenerator<Uint8Array> {
  const { url, signal } = playing;
  let from = 0;
  for (const step of steps) {
    signal.throwIfAborted();
    if ("end" in step) {
      yield body.subarray(from, step.end);
      from = step.end;
    } else if ("waitMs" in step) {
      await silence(step.waitMs, playing, () => stalledError(url, IDLE_TIMEOUT_MS));
    } else if ("stall" in step) await aborted(signal);
    else throw cutAnswerError(url);
  }
}

/** Rejects with the reason of `signal` once that aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

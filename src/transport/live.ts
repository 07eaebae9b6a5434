/** The live transport: fetch with a bound key, no redirects, timeouts, and a cap on decoded bytes. */
import { RepriseError } from "../domain/errors.ts";
import { isLoopback } from "../domain/fingerprint.ts";
import type { Clock, Ports } from "../domain/ports.ts";
import { counted } from "../domain/text.ts";
import { decodeAnswer } from "./content_coding.ts";
import { answerTimeoutError, cutAnswerError, networkError, stalledError } from "./failure.ts";
import type { HttpResponse, Send } from "./http.ts";

export interface LiveOptions {
  /** Time limit until the server answers with a status, in milliseconds. */
  readonly responseTimeoutMs: number;
  /** Time for which the body may stay silent, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Cap of one answer's decoded body. */
  readonly maxBodyBytes: number;
  /** The only origin that requests, which carry the key, may go to. */
  readonly origin: string;
}

/**
 * A {@linkcode Send} over `ports.fetch`. A redirect is an answer like any other and is not followed: its target
 * would get the key and the history. The returned function
 *
 * @throws {RepriseError} `insecure_url` for another origin, and for http to anything but this machine;
 * `network_failed` when no answer came; while the body is read, `stream_cut` if it breaks off or stays silent,
 * `bad_stream` if it is over the cap or in an encoding that was not requested.
 */
export function createLiveSend(ports: Ports, options: LiveOptions): Send {
  return async (request, signal) => {
    const url = new URL(request.url);
    checkTarget(url, options.origin);
    const headers = headersOf(request.headers);
    signal.throwIfAborted();
    const life = new AbortController();
    const onAbort = () => life.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const deadline = startDeadline(ports.clock, (error) => life.abort(error));
    const release = () => {
      signal.removeEventListener("abort", onAbort);
      deadline.stop();
    };
    try {
      const { responseTimeoutMs, idleTimeoutMs } = options;
      deadline.expect(responseTimeoutMs, () => answerTimeoutError(url, responseTimeoutMs));
      const response = await ports.fetch(request.url, {
        method: "POST",
        headers,
        body: request.body,
        redirect: "manual",
        signal: life.signal,
      });
      deadline.met();
      const raw = readRaw(response.body, { url, signal: life.signal, deadline, release, idleTimeoutMs });
      return {
        status: response.status,
        headers: response.headers,
        body: cappedBody(decodeAnswer(raw, response.headers), options.maxBodyBytes),
      } satisfies HttpResponse;
    } catch (error) {
      release();
      throw life.signal.aborted ? life.signal.reason : networkError(url, error, ports);
    }
  };
}

/** @throws {RepriseError} `insecure_url` for another origin, and for http to anything but this machine. */
export function checkTarget(url: URL, origin: string): void {
  if (url.origin !== origin) {
    throw new RepriseError("insecure_url", `Cannot send to ${url.origin}: the key belongs to ${origin}`, {
      hint: "A key goes only to the base URL that it was given for",
    });
  }
  if (url.protocol !== "https:" && !isLoopback(url)) {
    throw new RepriseError("insecure_url", `Cannot send to ${url.origin}: the key would travel unencrypted`, {
      hint: "Use an https base URL; http is for servers on this machine only",
    });
  }
}

/** The runtime's own error for a bad header quotes its value, which may be the key. */
function headersOf(plain: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(plain)) {
    try {
      headers.set(name, value);
    } catch {
      throw new RepriseError(
        "bad_configuration",
        `Cannot send the header ${JSON.stringify(name)}: HTTP cannot carry its name or value`,
        { hint: "Set the key again, without spaces, quotes or line ends" },
      );
    }
  }
  // Compression would hide the real length of an answer, and delays the events of a stream.
  headers.set("accept-encoding", "identity");
  return headers;
}

/** A manual iterator: an async generator adds a hop for each chunk, and cannot be left while it waits. */
function readRaw(
  body: ReadableStream<Uint8Array> | null,
  { url, signal, deadline, release, idleTimeoutMs: idle }: Pick<LiveOptions, "idleTimeoutMs"> & {
    readonly url: URL;
    readonly signal: AbortSignal;
    readonly deadline: Deadline;
    readonly release: () => void;
  },
): AsyncIterable<Uint8Array> {
  const reader = body?.getReader();
  const done: IteratorReturnResult<undefined> = { done: true, value: undefined };
  let over = false;
  const finish = () => {
    over = true;
    release();
  };
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      if (over) return done;
      if (reader === undefined) {
        finish();
        return done;
      }
      try {
        deadline.expect(idle, () => stalledError(url, idle));
        const result = await readOrAborted(reader, signal);
        deadline.met();
        if (!result.done) return result;
        finish();
        return done;
      } catch (error) {
        finish();
        if (signal.aborted) {
          reader.cancel().catch(() => {/* gone already, which is what was wanted */});
          throw signal.reason;
        }
        throw cutAnswerError(url, error);
      }
    },
    async return() {
      if (!over) {
        finish();
        await reader?.cancel().catch(() => {/* the connection is gone already, which is what was wanted */});
      }
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/**
 * Returns the next chunk; rejects as soon as `signal` aborts. An abort between two reads does not always reach the
 * runtime's own body, and the wait would then never end.
 */
export function readOrAborted(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    reader.read().then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Returns `body`, which fails with `bad_stream` after `maxBytes`. */
export function cappedBody(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Uint8Array> {
  const inner = body[Symbol.asyncIterator]();
  let total = 0;
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const result = await inner.next();
      if (result.done) return result;
      total += result.value.length;
      if (total <= maxBytes) return result;
      await inner.return?.();
      throw new RepriseError("bad_stream", `The answer is longer than ${counted(maxBytes, "byte")}`, {
        hint: "No model answers like this: check the base URL",
      });
    },
    return: () => inner.return?.() ?? Promise.resolve({ done: true, value: undefined }),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** A watchdog for a whole exchange: a timer for each chunk would cost more than reading the chunk. */
export interface Deadline {
  /** Starts to wait, for at most `milliseconds`; `error` creates the error of a missed deadline. */
  expect(milliseconds: number, error: () => RepriseError): void;
  met(): void;
  /** Ends the watchdog; no timer remains. */
  stop(): void;
}

/** Starts a watchdog that calls `onMissed` at most once. */
export function startDeadline(clock: Clock, onMissed: (error: RepriseError) => void): Deadline {
  let waiting: { readonly until: number; readonly error: () => RepriseError } | undefined;
  let nap: { readonly until: number; readonly cut: AbortController } | undefined;
  let stopped = false;

  async function watch(): Promise<void> {
    while (waiting !== undefined && !stopped) {
      const { until, error } = waiting;
      const remaining = until - clock.monotonic();
      if (remaining <= 0) {
        stopped = true;
        onMissed(error());
        return;
      }
      nap = { until, cut: new AbortController() };
      await clock.sleep(remaining, nap.cut.signal);
      nap = undefined;
    }
  }

  return {
    expect(milliseconds, error) {
      waiting = { until: clock.monotonic() + milliseconds, error };
      // A running sleep that ends before the new limit checks it then; only a longer sleep must be cut short.
      if (nap === undefined) void watch();
      else if (nap.until > waiting.until) nap.cut.abort();
    },
    met() {
      waiting = undefined;
    },
    stop() {
      stopped = true;
      waiting = undefined;
      nap?.cut.abort();
    },
  };
}

/**
 * Recorded exchanges played back in sequence: no socket is opened.
 *
 * @module
 */
import { ReprError } from "../domain/errors.ts";
import type { HttpResponse, Send } from "./http.ts";
import { brokenOff } from "./network_error.ts";

/** One answer as it was recorded, its body in the chunks in which it came. */
export interface RecordedExchange {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Uint8Array[];
  /** The connection broke off behind the last chunk. */
  readonly cut?: true;
}

/** A {@linkcode Send} that answers from a recording. */
export type Player = Send & {
  /** How many exchanges were answered so far. */
  readonly used: number;
};

/**
 * Answers the first request with the first exchange, and so on, whatever the requests say. `name` is the
 * fixture's name for messages. The returned function
 *
 * @throws {ReprError} `fixture_miss` for a request after the last exchange.
 */
export function createPlayer(exchanges: readonly RecordedExchange[], name: string): Player {
  let used = 0;
  const send: Send = (request, signal) => {
    if (signal.aborted) return Promise.reject(signal.reason);
    const exchange = exchanges[used];
    if (exchange === undefined) {
      return Promise.reject(
        new ReprError(
          "fixture_miss",
          `Cannot answer request ${used + 1} from fixture ${JSON.stringify(name)}: it holds ${
            exchanges.length === 1 ? "1 exchange" : `${exchanges.length} exchanges`
          }`,
          { hint: "Record the fixture again, or play the run that it was recorded from" },
        ),
      );
    }
    used += 1;
    return Promise.resolve(
      {
        status: exchange.status,
        headers: new Headers(exchange.headers),
        body: playBody(exchange, { url: new URL(request.url), signal }),
      } satisfies HttpResponse,
    );
  };
  return Object.defineProperty(send, "used", { get: () => used, enumerable: true }) as Player;
}

async function* playBody(
  { chunks, cut }: RecordedExchange,
  { url, signal }: { readonly url: URL; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
  if (cut === true) throw brokenOff(url);
}

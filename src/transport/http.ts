/** Types of an HTTP exchange, shared by live transport, recorder and player. */

/** A `POST` with a JSON body. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer whose body has not been read. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Iterating to the end, or `return()`, releases everything; one of the two must happen. */
  readonly body: AsyncIterable<Uint8Array>;
  /** `ws` if the request was sent over a WebSocket; absent over HTTP. */
  readonly transport?: "ws";
}

/**
 * Sends one request. When `signal` aborts, sending and reading reject with its reason.
 *
 * @throws {RepriseError} `network_failed` and similar; never for an HTTP status, which is an answer.
 */
export type Send = (request: OutgoingRequest, signal: AbortSignal) => Promise<HttpResponse>;

export function isEventStreamType(contentType: string | null | undefined): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(contentType ?? "");
}

/** Releases a body that is not needed. */
export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

/** Body of the chunks of a generator; `release` is called also if nothing was read: then it has not even started. */
export function releasedBody(
  chunks: AsyncGenerator<Uint8Array>,
  release: () => Promise<void> | void,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => chunks.next(),
      async return() {
        await release();
        return await chunks.return(undefined);
      },
    }),
  };
}

/** Reads at most `limit` bytes of a body as text; discards the rest. Bytes that are not UTF-8 become U+FFFD. */
export async function readText(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let room = limit;
  for await (const chunk of body) {
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    room -= chunk.length;
    if (room <= 0) break;
  }
  return text + decoder.decode();
}

/** Headers about one connection, which HTTP/2 forbids (RFC 9113 §8.2.2). */
export const CONNECTION_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
] as const;

/** Headers for the next server or client only, which a proxy does not forward (RFC 9110 §7.6.1). */
export const HOP_BY_HOP_HEADERS = [
  ...CONNECTION_HEADERS,
  "http2-settings",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
] as const;

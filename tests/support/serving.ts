/** Support for the test servers of all APIs: listening on 127.0.0.1, recording what arrives, writing bytes. */
import type { JsonValue } from "../../src/domain/json.ts";

const RESET_AFTER_MS = 20;

/** One request as it arrived. */
export interface ArrivedRequest {
  /** 1, 2, 3, … in order of arrival, refused ones included. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact text of the body. */
  readonly text: string;
  /** The parsed body; `null` when it is not JSON. */
  readonly body: JsonValue;
}

/** Reads a request whole. */
export async function arrivedRequest(incoming: Request, number: number): Promise<ArrivedRequest> {
  const text = await incoming.text();
  let body: JsonValue = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Recorded as it came; the rules refuse it.
  }
  return {
    number,
    method: incoming.method,
    path: new URL(incoming.url).pathname,
    headers: Object.fromEntries(incoming.headers),
    text,
    body,
  };
}

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Aborts when the server stops: stalled streams end then. */
  readonly stopped: AbortSignal;
  /** Ends stalled streams and stops listening. */
  stop(): Promise<void>;
}

/** Listens on a port of 127.0.0.1; 0 is a free one. */
export function listen(handle: (incoming: Request) => Promise<Response>, port = 0): Listening {
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port,
    onListen: () => {},
    onError: (error) => new Response(String(error), { status: 500 }),
  }, handle);
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    stopped: stopping.signal,
    stop() {
      stopping.abort();
      stopped ??= server.shutdown();
      return stopped;
    },
  };
}

/** Options for writing the bytes of a stream. */
export interface Delivery {
  /** Bytes per write; small numbers split lines and characters. */
  readonly chunkBytes?: number;
  /** Milliseconds before each write. */
  readonly delayMs?: number;
  /** @default {"\n"} */
  readonly lineEnd?: "\n" | "\r\n" | "\r";
}

/** `bytes` in writes of at most `size` bytes. */
export function splitBytes(bytes: Uint8Array<ArrayBuffer>, size = 16 * 1024): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

/** Options for writing a body and ending its connection. */
export interface BodyOptions {
  readonly delayMs?: number;
  readonly then: "close" | "reset" | "stall";
  /** Ends stalls and delays when the server stops. */
  readonly stopped: AbortSignal;
}

/** A response body that writes `chunks` one by one, each when the one before was taken. */
export function bodyOf(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  { delayMs, then, stopped }: BodyOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const canceled = new AbortController();
  const ended = AbortSignal.any([stopped, canceled.signal]);
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      if (delayMs !== undefined) await pause(delayMs, ended);
      const chunk = chunks[next++];
      if (chunk !== undefined) return controller.enqueue(chunk);
      if (then === "reset") {
        // Otherwise the break can overtake what was written before it.
        await pause(RESET_AFTER_MS, ended);
        return controller.error(new Error("scripted reset"));
      }
      if (then === "stall") await pause(Infinity, ended);
      if (!canceled.signal.aborted) controller.close();
    },
    cancel() {
      canceled.abort();
    },
  }, { highWaterMark: 0 });
}

/** The body of a scripted event stream: `bytes` as `delivery` says, and how the connection ends. */
export function streamBody(
  bytes: Uint8Array<ArrayBuffer>,
  options: { readonly delivery?: Delivery; readonly end?: { readonly kind: string } },
  stopped: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { delivery, end } = options;
  return bodyOf(splitBytes(bytes, delivery?.chunkBytes), {
    then: end?.kind === "reset" || end?.kind === "stall" ? end.kind : "close",
    stopped,
    ...(delivery?.delayMs === undefined ? {} : { delayMs: delivery.delayMs }),
  });
}

/** Resolves after `milliseconds`, or at once when `signal` aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = Number.isFinite(milliseconds) ? setTimeout(resolve, milliseconds) : undefined;
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

/** Support for the transport tests: clocks, ports with the real fetch, and bodies from text. */
import type { Clock, Ports } from "../../../src/domain/ports.ts";
import type { LiveOptions } from "../../../src/transport/live.ts";
import { createLiveSend } from "../../../src/transport/live.ts";
import type { HttpRequest, Send } from "../../../src/transport/http.ts";

const encoder = new TextEncoder();

/** A clock that sleeps in no time and remembers for how long it was asked to. */
export interface FakeClock extends Clock {
  readonly slept: readonly number[];
}

/** A {@linkcode FakeClock} whose wall time starts at `now`. */
export function fakeClock(now = Date.UTC(2026, 10, 21)): FakeClock {
  const slept: number[] = [];
  let passed = 0;
  return {
    slept,
    now: () => now + passed,
    monotonic: () => passed,
    sleep(milliseconds) {
      slept.push(milliseconds);
      passed += milliseconds;
      return Promise.resolve();
    },
  };
}

/** The machine's clock; a sleep leaves no timer when it is cut short. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      signal?.addEventListener("abort", wake);
      if (signal?.aborted) wake();
    });
  },
};

/** Ports with the clock and fetch that the live transport uses, and an environment without proxies. */
export function livePorts(fetcher: typeof fetch = fetch): Ports {
  return { clock: realClock, fetch: fetcher, env: (_name: string) => undefined } as Ports;
}

/** A live {@linkcode Send} to `origin`, with limits that no test meets unless it sets them. */
export function liveSend(origin: string, options: Partial<LiveOptions> = {}): Send {
  const limits = { responseTimeoutMs: 30_000, idleTimeoutMs: 30_000, maxBodyBytes: 64 * 1024 * 1024 };
  return createLiveSend(livePorts(), { ...limits, origin, ...options });
}

/** A request with a key in it. */
export function requestTo(url: string): HttpRequest {
  return { url, headers: { authorization: "Bearer sk-canary-key" }, body: '{"model":"m"}' };
}

/** Runs `fn` against a server on a free loopback port; `handler` gets the number of the request, from 1. */
export async function withServer(
  handler: (request: Request, count: number) => Response | Promise<Response>,
  fn: (origin: string, count: () => number) => Promise<void>,
): Promise<void> {
  let count = 0;
  const stop = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen() {} },
    async (request) => {
      await request.text();
      return handler(request, ++count);
    },
  );
  try {
    await fn(`http://127.0.0.1:${server.addr.port}`, () => count);
  } finally {
    // Not shutdown(), which waits for answers that a failing test may never end.
    stop.abort();
    await server.finished;
  }
}

/** Runs `fn` against a server that answers every connection with exactly `bytes`, then closes it. */
export async function withRawServer(bytes: string, fn: (origin: string) => Promise<void>): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(65_536));
      await connection.write(encoder.encode(bytes));
      connection.close();
    }
  })();
  try {
    await fn(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`);
  } finally {
    listener.close();
    await served;
  }
}

/** A stream of server-sent events. */
export function sse(text: string | readonly string[], headers: Record<string, string> = {}): Response {
  const chunks = typeof text === "string" ? [text] : text;
  return new Response(ReadableStream.from(chunks.map((chunk) => encoder.encode(chunk))), {
    headers: { "content-type": "text/event-stream; charset=utf-8", ...headers },
  });
}

/**
 * A stream that says `text` and then stays silent until the client goes away. `gone` resolves then, and rejects
 * when that takes more than five seconds.
 */
export function hangingSse(text: string): { readonly response: Response; readonly gone: Promise<void> } {
  const { promise: gone, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error("The client did not let go of the stream")), 5000);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(text));
    },
    cancel() {
      clearTimeout(timer);
      resolve();
    },
  });
  return { response: new Response(body, { headers: { "content-type": "text/event-stream" } }), gone };
}

/** Bytes cut into chunks of `size`. */
export function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
  return chunks;
}

/**
 * One scripted API on 127.0.0.1 for tests: listens, records what arrives, checks key, path and rules, and gives the next
 * answer of its script as JSON, stream, error or bytes. Adapters know the shapes of each API.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Json } from "../files.ts";
import type { Violation } from "./judge.ts";

const RESET_AFTER_MS = 20;
const LONG_MS = 2 ** 31 - 1;
const encoder = new TextEncoder();

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
  readonly body: Json;
}

/** Options for writing the bytes of a stream. */
export interface Delivery {
  /** Bytes per write; small numbers split lines and characters. */
  readonly chunkBytes?: number;
  /** Milliseconds before each write. */
  readonly delayMs?: number;
}

/** Everything about a streamed answer beside its content. */
export interface StreamOptions<End extends { readonly kind: string }> {
  /** `cut` and `reset` end the body or break the connection early; `stall` keeps it open. */
  readonly end?: End;
  readonly usage?: Json;
  readonly delivery?: Delivery;
  readonly headers?: Readonly<Record<string, string>>;
  /** `model` of the answer; the requested one otherwise. */
  readonly model?: string;
}

/** A streamed answer with what its API calls its content. */
export interface StreamAnswer {
  readonly kind: "stream";
  readonly options: StreamOptions<{ readonly kind: string }>;
}

/** An answer without any stream. */
export interface HttpAnswer {
  readonly kind: "http";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A 200 whose event stream is these bytes, whatever they are. */
export interface BytesAnswer {
  readonly kind: "bytes";
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
}

/** Answers one request after the other; or a function that decides. Refused requests use nothing up. */
export type ScriptOf<Sent, Stream> =
  | readonly (Stream | HttpAnswer | BytesAnswer)[]
  | ((request: Sent) => Stream | HttpAnswer | BytesAnswer | Promise<Stream | HttpAnswer | BytesAnswer>);

/** The shapes of one API. */
export interface Adapter<Sent extends ArrivedRequest, Stream extends StreamAnswer> {
  readonly path: RegExp;
  readonly keyOf: (headers: ArrivedRequest["headers"]) => string | undefined;
  /** Headers of every answer. */
  readonly headers: (number: number) => Record<string, string>;
  readonly sent: (arrived: ArrivedRequest) => Sent;
  readonly violations: (sent: Sent) => readonly Violation[];
  readonly error: (status: number, violation: Violation) => HttpAnswer;
  /** Answers that no script gives. */
  readonly ownAnswer?: (sent: Sent) => Stream | HttpAnswer | undefined;
  /** The events of an answer, and the same without a stream. */
  readonly written: (
    answer: Stream,
    sent: Sent,
  ) => { readonly events: readonly Json[]; readonly whole: Json };
  /** The text of a stream. */
  readonly encode: (events: readonly Json[]) => string;
}

/** A server without its address: what arrived, and what it answers. */
export class ScriptedApi<Sent extends ArrivedRequest, Stream extends StreamAnswer> {
  readonly requests: Sent[] = [];
  /** The violations that were answered, in order. */
  readonly refusals: Violation[] = [];
  readonly adapter: Adapter<Sent, Stream>;
  readonly #script: ScriptOf<Sent, Stream>;
  readonly #key: string | undefined;
  #answered = 0;

  constructor(adapter: Adapter<Sent, Stream>, script: ScriptOf<Sent, Stream>, key?: string) {
    this.adapter = adapter;
    this.#script = script;
    this.#key = key;
  }

  /** Records a request, checks it, and returns its answer. */
  async answerTo(arrived: Omit<ArrivedRequest, "number">) {
    const sent = this.adapter.sent({ ...arrived, number: this.requests.length + 1 });
    this.requests.push(sent);
    return { sent, answer: await this.#answerTo(sent) };
  }

  async #answerTo(sent: Sent): Promise<Stream | HttpAnswer | BytesAnswer> {
    const { path, keyOf, violations, error, ownAnswer } = this.adapter;
    if (!path.test(sent.path) || typeof sent.body !== "object" || sent.body === null) {
      return error(404, { message: `Invalid URL (${sent.method} ${sent.path})` });
    }
    if (this.#key !== undefined && keyOf(sent.headers) !== this.#key) {
      return error(401, { message: "Incorrect API key provided.", code: "invalid_api_key" });
    }
    const [violation] = violations(sent);
    if (violation !== undefined) {
      this.refusals.push(violation);
      return error(400, violation);
    }
    const own = ownAnswer?.(sent);
    if (own !== undefined) return own;
    if (typeof this.#script === "function") return await this.#script(sent);
    return this.#script[this.#answered++] ??
      error(400, { message: `The script has no answer to request ${sent.number}` });
  }

  /** Answers a request over HTTP. */
  async respond(incoming: Request, stopped: AbortSignal): Promise<Response> {
    const { sent, answer } = await this.answerTo(await arrivedRequest(incoming));
    const headers = this.adapter.headers(sent.number);
    const stream = { ...headers, "content-type": "text/event-stream; charset=utf-8" };
    switch (answer.kind) {
      case "http":
        return new Response(answer.body === "" ? null : answer.body, {
          status: answer.status,
          headers: { ...headers, ...answer.headers },
        });
      case "bytes":
        return new Response(bodyOf(answer.chunks, { then: "close", stopped }), { headers: stream });
      case "stream": {
        const { events, whole } = this.adapter.written(answer, sent);
        if (sent.body.stream !== true) return Response.json(whole, { headers });
        const { delivery, end, headers: own } = answer.options;
        const chunks = splitBytes(encoder.encode(this.adapter.encode(events)), delivery?.chunkBytes);
        const then = end?.kind === "reset" || end?.kind === "stall" ? end.kind : "close";
        const body = bodyOf(chunks, { delayMs: delivery?.delayMs, then, stopped });
        return new Response(body, { headers: { ...stream, ...own } });
      }
    }
  }
}

/** A running server. */
export interface ScriptedServer<Sent> extends AsyncDisposable {
  /** For clients: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly Sent[];
  /** The violations that were answered, in order. */
  readonly refusals: readonly Violation[];
  /** Ends stalled streams and stops listening. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export function startScriptedApi<Sent extends ArrivedRequest, Stream extends StreamAnswer>(
  api: ScriptedApi<Sent, Stream>,
): ScriptedServer<Sent> {
  const { origin, stop } = listen((incoming, stopped) => api.respond(incoming, stopped));
  const { requests, refusals } = api;
  return { baseUrl: `${origin}/v1`, requests, refusals, stop, [Symbol.asyncDispose]: stop };
}

async function arrivedRequest(incoming: Request): Promise<Omit<ArrivedRequest, "number">> {
  const text = await incoming.text();
  const { method, url, headers } = incoming;
  return {
    method,
    path: new URL(url).pathname,
    headers: Object.fromEntries(headers),
    text,
    body: parsed(text),
  };
}

/** Parses JSON; `null` if the text is none. */
export function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The text of an event stream. */
export function eventStream(events: readonly Json[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** A text in pieces of at most `size` characters, which split no character. */
export function pieces(text: string, size = 12): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
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
export function listen(
  handle: (incoming: Request, stopped: AbortSignal) => Promise<Response>,
  port = 0,
): Listening {
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port,
    onListen: () => {},
    onError: (error) => new Response(String(error), { status: 500 }),
  }, (incoming) => handle(incoming, stopping.signal));
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

/** `bytes` in writes of at most `size` bytes. */
export function splitBytes(bytes: Uint8Array<ArrayBuffer>, size = 16 * 1024): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

/** A response body that writes `chunks` one by one, each when the one before was taken. */
export function bodyOf(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  { delayMs, then, stopped }: {
    readonly delayMs?: number | undefined;
    readonly then: "close" | "reset" | "stall";
    /** Ends stalls and delays when the server stops. */
    readonly stopped: AbortSignal;
  },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  // An aborted wait ends at once.
  const pause = (ms: number) => delay(ms, undefined, { signal: stopped }).catch(() => {});
  async function* written() {
    for (const chunk of chunks) {
      if (delayMs !== undefined) await pause(delayMs);
      yield chunk;
    }
    if (then === "reset") {
      // Otherwise the break can overtake what was written before it.
      await pause(RESET_AFTER_MS);
      throw new Error("scripted reset");
    }
    if (then === "stall") await pause(LONG_MS);
  }
  return ReadableStream.from(written());
}

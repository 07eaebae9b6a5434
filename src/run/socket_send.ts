/**
 * Sends the requests of a run over one WebSocket. The rest of the run sees the HTTP equivalents: each request is the body
 * that HTTP would send, each answer an event stream or an error with its status (protocol §8.5).
 */
import type { ConversationStep, SocketConversation } from "../apis/responses/socket/conversation.ts";
import type { HttpError } from "../apis/responses/socket/messages.ts";
import type { SocketApi } from "../apis/responses/socket/socket.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import {
  CONNECTION_HEADERS,
  discard,
  type HttpResponse,
  type OutgoingRequest,
  releasedBody,
  type Send,
} from "../transport/http.ts";
import {
  cappedBody,
  checkTarget,
  type Deadline,
  type LiveOptions,
  startDeadline,
} from "../transport/live.ts";
import { extraCertificates } from "../transport/authorities.ts";
import { headOf } from "../domain/text.ts";
import { answerTimeoutError, connectionError, stalledError } from "../transport/failure.ts";
import { proxyFor } from "../transport/proxy.ts";
import {
  type ClientSocket,
  openWebSocket,
  type SocketEvent,
  type WebSocketOptions,
} from "../transport/web_socket.ts";

export interface SocketSendOptions extends LiveOptions {
  readonly ports: Ports;
  readonly api: SocketApi;
  /** Sends what cannot be sent over a WebSocket, and gives the status of a server that refuses one. */
  readonly http: Send;
  /** Called with a sentence when a request is sent over HTTP instead. */
  readonly onFallback: (message: string) => void;
  /** Wraps each connection that opens, to record it. @default {no wrapper} */
  readonly wrapSocket?: (
    socket: ClientSocket,
    upgrade: Pick<WebSocketOptions, "url" | "headers">,
  ) => ClientSocket;
}

/** Time limit of an upgrade, in milliseconds: HTTP is tried after it. */
const OPEN_TIMEOUT = 15_000;
/** Largest message, in bytes: an event has at most 64 Mi characters. */
const MAX_MESSAGE = 192 * 1024 * 1024;
/** Headers about the body of a request, which an upgrade does not have. */
const BODY_HEADERS: ReadonlySet<string> = new Set(["accept", "content-type"]);
/** Headers of an upgrade's answer that an answer over HTTP does not have. */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  "content-length",
  "x-request-id",
]);
/** Close codes after which the same server may accept a new connection. */
const MAY_RECONNECT: ReadonlySet<number> = new Set([1001, 1005, 1006, 1011, 1012, 1013, 1015]);

interface Connection {
  readonly socket: ClientSocket;
  /** URL and headers of its upgrade. */
  readonly target: string;
}

/** The first messages of an answer, or the reason why there are none. */
type Opening =
  | {
    readonly kind: "answer";
    readonly steps: readonly ConversationStep[];
    /** The last step, which decides what follows. */
    readonly step: ConversationStep;
    /** The end of the connection after these messages; `null` if it is open. */
    readonly close: CloseEvent | null;
  }
  | { readonly kind: "closed"; readonly code: number; readonly error: RepriseError };

/**
 * Sends over one connection, which is opened for the first request and again after a loss. A request over a new
 * connection holds its whole input. A request that gets no WebSocket is sent over HTTP.
 */
export class SocketSender {
  readonly #options: SocketSendOptions;
  readonly #conversation: SocketConversation;
  #connection: Connection | null = null;
  /** True once the server was found to offer no WebSocket. */
  #httpOnly = false;

  constructor(options: SocketSendOptions) {
    this.#options = options;
    this.#conversation = options.api.newConversation();
  }

  readonly send: Send = async (request, signal) => {
    const { api, http, origin, ports, onFallback } = this.#options;
    const url = new URL(request.url);
    if (this.#httpOnly || !api.ownsPath(url.pathname)) return await http(request, signal);
    checkTarget(url, origin);
    signal.throwIfAborted();
    const proxy = proxyFor(url, ports.env);
    if (proxy !== null) {
      this.#httpOnly = true;
      onFallback(
        `The proxy ${proxy.host}, which ${proxy.variable} names, gets no WebSocket: this run uses HTTP`,
      );
      return await http(request, signal);
    }
    // A request that the server refuses for a lost response or its connection is sent once more, with the whole input.
    for (let attempt = 1;; attempt++) {
      const isReused = this.#reusable(request);
      const failure = isReused ? null : await this.#open(request, signal);
      if (failure !== null) {
        onFallback(failure);
        return await http(request, signal);
      }
      const { socket } = this.#connection as Connection;
      const exchange = new OpenExchange(socket, url, signal, ports);
      const { text, continues } = this.#conversation.open(request.body);
      socket.send(text);
      const opening = await this.#first(exchange, continues);
      if (opening.kind === "closed") {
        this.#drop();
        if (!isReused && !MAY_RECONNECT.has(opening.code)) {
          this.#httpOnly = true;
          onFallback(`${opening.error.message}: this run uses HTTP`);
        }
        // The server may have taken the request: sending it again is another attempt.
        throw opening.error;
      }
      const { step } = opening;
      if (step.loss === "connection" && attempt === 1) {
        exchange.end();
        this.#drop();
        continue;
      }
      if (step.loss === "response" && continues) {
        exchange.end();
        // `response.failed` may follow an error without a status (protocol §3.5).
        if (step.isError && step.refusal === null) this.#drop();
        continue;
      }
      return step.refusal === null || step.loss === "connection" || opening.steps.length > 1
        ? {
          status: 200,
          headers: answerHeaders(socket, step.headers),
          body: this.#bodyOf(exchange, opening),
          transport: "ws",
        }
        : this.#refused(exchange, step.refusal, step.headers);
    }
  };

  close(): void {
    this.#connection?.socket.close(1000);
    this.#connection = null;
  }

  #drop(): void {
    this.#connection?.socket.terminate();
    this.#connection = null;
    this.#conversation.forget();
  }

  #reusable({ url, headers }: OutgoingRequest): boolean {
    const connection = this.#connection;
    if (connection?.socket.isOpen === true && connection.target === targetOf(url, headers)) return true;
    this.#drop();
    return false;
  }

  /** Opens a connection; returns a message for the user if there is none. */
  async #open({ url, headers }: OutgoingRequest, signal: AbortSignal): Promise<string | null> {
    const { ports, responseTimeoutMs } = this.#options;
    const { host } = new URL(url);
    try {
      const address = {
        url: url.replace(/^http/, "ws"),
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !BODY_HEADERS.has(name))),
      };
      const upgrade = await openWebSocket({
        ...address,
        signal,
        openTimeoutMs: Math.min(OPEN_TIMEOUT, responseTimeoutMs),
        maxMessageBytes: MAX_MESSAGE,
        authorities: extraCertificates(address.url, ports.env),
        monotonic: () => ports.clock.monotonic(),
      });
      if ("socket" in upgrade) {
        const socket = this.#options.wrapSocket?.(upgrade.socket, address) ?? upgrade.socket;
        this.#connection = { socket, target: targetOf(url, headers) };
        return null;
      }
      await discard(upgrade.refusal.body);
      this.#httpOnly = true;
      return `${host} refused the WebSocket (HTTP ${upgrade.refusal.status}): this run uses HTTP`;
    } catch {
      signal.throwIfAborted();
      return `Cannot open a WebSocket to ${host}: this request uses HTTP`;
    }
  }

  /**
   * Waits for the first message; of an answer that continues a response, for the first message that shows that the server
   * accepts this.
   */
  async #first(exchange: OpenExchange, continues: boolean): Promise<Opening> {
    const { responseTimeoutMs, idleTimeoutMs } = this.#options;
    const steps: ConversationStep[] = [];
    for (;;) {
      const step = await this.#next(exchange, steps.length === 0 ? responseTimeoutMs : idleTimeoutMs);
      const last = steps.at(-1);
      if (!("kind" in step)) {
        steps.push(step);
        if (!continues || !step.isPrelude) return { kind: "answer", steps, step, close: null };
      } else if (last !== undefined) return { kind: "answer", steps, step: last, close: step };
      else return { kind: "closed", code: step.code, error: exchange.lost(step) };
    }
  }

  async #next(exchange: OpenExchange, limitMs: number): Promise<ConversationStep | CloseEvent> {
    for (;;) {
      const event = await exchange.next(limitMs);
      const step = event.kind === "close" ? event : this.#take(exchange, event);
      if (step !== null) return step;
    }
  }

  #take(exchange: OpenExchange, event: Exclude<SocketEvent, { kind: "close" }>): ConversationStep | null {
    if (event.kind === "text") return this.#conversation.take(new TextDecoder().decode(event.bytes));
    exchange.end();
    this.#connection?.socket.close(1003);
    this.#connection = null;
    throw new RepriseError("bad_stream", `${exchange.host} sent a binary message on the WebSocket`, {
      hint: "Check the base URL, or use --transport sse",
    });
  }

  /** The connection stays open after a refusal. */
  #refused(exchange: OpenExchange, { status, body }: HttpError, errorHeaders: HeadersInit): HttpResponse {
    exchange.end();
    const headers = answerHeaders(exchange.socket, errorHeaders);
    headers.set("content-type", "application/json");
    return { status, headers, body: ReadableStream.from([encodeUtf8(body)]), transport: "ws" };
  }

  #bodyOf(exchange: OpenExchange, opening: Extract<Opening, { kind: "answer" }>): AsyncIterable<Uint8Array> {
    const body = releasedBody(this.#events(exchange, opening), () => {
      // There is no message that cancels a response.
      if (!exchange.isOver) this.#drop();
      exchange.end();
    });
    return cappedBody(body, this.#options.maxBodyBytes);
  }

  async *#events(
    exchange: OpenExchange,
    { steps, step: last, close }: Extract<Opening, { kind: "answer" }>,
  ): AsyncGenerator<Uint8Array, undefined> {
    for (const { event } of steps.slice(0, -1)) yield encodeUtf8(event);
    for (let step = last;;) {
      if (step.loss === "connection") {
        exchange.end();
        this.#drop();
        throw exchange.lost(null);
      }
      if (step.ends) {
        exchange.end();
        // Messages after an error would be taken for the next answer.
        if (step.isError) this.#drop();
      }
      yield encodeUtf8(step.event);
      if (step.ends) return;
      const next = close ?? await this.#next(exchange, this.#options.idleTimeoutMs);
      if ("kind" in next) {
        this.#drop();
        throw exchange.lost(next);
      }
      step = next;
    }
  }
}

/** Identifies the upgrade that a request needs. */
function targetOf(url: string, headers: OutgoingRequest["headers"]): string {
  return JSON.stringify([url, headers]);
}

/** The headers of an answer: those of the upgrade, which name the account, and those that an error holds. */
function answerHeaders({ headers }: ClientSocket, more: HeadersInit): Headers {
  const answer = new Headers(headers);
  for (const name of [...answer.keys()]) {
    if (UPGRADE_HEADERS.has(name) || name.startsWith("sec-websocket-")) answer.delete(name);
  }
  for (const [name, value] of new Headers(more)) answer.set(name, value);
  answer.set("content-type", "text/event-stream");
  return answer;
}

type CloseEvent = Extract<SocketEvent, { kind: "close" }>;

class OpenExchange {
  readonly socket: ClientSocket;
  readonly #url: URL;
  readonly #signal: AbortSignal;
  readonly #deadline: Deadline;
  readonly #onAbort: () => void;
  #missed: RepriseError | null = null;
  #began = false;
  isOver = false;

  constructor(socket: ClientSocket, url: URL, signal: AbortSignal, ports: Ports) {
    this.socket = socket;
    this.#url = url;
    this.#signal = signal;
    this.#onAbort = () => socket.terminate();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#deadline = startDeadline(ports.clock, (error) => {
      this.#missed = error;
      socket.terminate();
    });
  }

  get host(): string {
    return this.#url.host;
  }

  /**
   * Returns the next message, or the end of the connection.
   *
   * @throws {RepriseError} `network_failed` if no message came in time, `stream_cut` for a later one; the reason of the
   * aborted signal.
   */
  async next(limitMs: number): Promise<SocketEvent> {
    this.#deadline.expect(
      limitMs,
      () => this.#began ? stalledError(this.#url, limitMs) : answerTimeoutError(this.#url, limitMs),
    );
    try {
      const event = await this.socket.next();
      this.#deadline.met();
      this.#began = true;
      if (event.kind !== "close") return event;
      this.end();
      this.#signal.throwIfAborted();
      if (this.#missed !== null) throw this.#missed;
      return event;
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** Ends the limits; the connection stays open. */
  end(): void {
    this.isOver = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#deadline.stop();
  }

  /** The error for a connection that closed, or that the server reports to be over. */
  lost(close: CloseEvent | null): RepriseError {
    const { host } = this.#url;
    const { cause } = close ?? {};
    if (/^WS_ERR_/.test(String((cause as { code?: unknown } | undefined)?.code))) {
      const message = `${host} broke the protocol of the WebSocket: ${cause?.message ?? ""}`;
      return new RepriseError("bad_stream", message, {
        hint: "Check the base URL, or use --transport sse",
        cause,
      });
    }
    const reason = close === null || close.reason === ""
      ? ""
      : `: ${JSON.stringify(headOf(close.reason, 200))}`;
    const why = close === null ? "its time limit is reached" : `code ${close.code}${reason}`;
    return connectionError(
      "stream_cut",
      `The WebSocket to ${host} closed before the end of the answer (${why})`,
      cause,
    );
  }
}

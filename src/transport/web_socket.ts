/**
 * A client of WebSockets on npm `ws`: no compression, no redirects, status and headers of the upgrade readable.
 * Load this module only when a WebSocket is needed: `ws` takes longer to load than a short call.
 */
import type { IncomingMessage } from "node:http";
import { RepriseError } from "../domain/errors.ts";
import { type HttpResponse, releasedBody } from "./http.ts";
import { WebSocket } from "./ws.ts";

export interface WebSocketOptions {
  /** `ws:` or `wss:`; the caller has checked that the headers may go there. */
  readonly url: string;
  /** Headers of the upgrade in addition to those of the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborting ends the connection at once. */
  readonly signal: AbortSignal;
  readonly openTimeoutMs: number;
  /** Largest message that is received, in bytes; a larger one ends the connection with 1009. */
  readonly maxMessageBytes: number;
  /** Certificate authorities in addition to the runtime's, in PEM. */
  readonly authorities: readonly string[];
  /** Monotonic time in milliseconds, for the arrival of messages. */
  readonly monotonic: () => number;
}

export type Upgrade = { readonly socket: ClientSocket } | {
  /** An answer with another status than 101. Its body must be read or discarded. */
  readonly refusal: HttpResponse;
};

/** A message of the server, or the end of the connection, which comes once and last. */
export type SocketEvent =
  | { readonly kind: "text"; readonly bytes: Uint8Array; readonly arrivedAt: number }
  | { readonly kind: "binary"; readonly bytes: Uint8Array; readonly arrivedAt: number }
  | {
    readonly kind: "close";
    /** Code of the server's close frame; 1005 if the frame has none, 1006 if no frame came. */
    readonly code: number;
    readonly reason: string;
    /** The broken rule of the protocol, or the error of the connection; absent for a close by the server. */
    readonly cause?: Error;
    readonly arrivedAt: number;
  };

/** One side of an open connection. */
export interface MessageSocket {
  /** False once the connection closes. */
  readonly isOpen: boolean;
  /**
   * Returns the next message, or the end; after the end again the end. Only one call may wait. Bytes are read from the
   * network only as fast as messages are taken. Rejects with the reason of the aborted signal.
   */
  next(): Promise<SocketEvent>;
  /** Sends one text message, given as text or as its bytes in UTF-8; does nothing if the connection closes. */
  send(text: string | Uint8Array): void;
  /** Resolves when there is room to send more, or the connection has closed; `null` if that is so now. */
  room(): Promise<void> | null;
  /** Starts the closing handshake; the connection ends after a second at the latest. */
  close(code?: number, reason?: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
}

export interface ClientSocket extends MessageSocket {
  /** Headers of the answer with status 101. */
  readonly headers: Headers;
}

/** Time for which the server's close frame is awaited, in milliseconds. */
const CLOSE_TIMEOUT = 1000;
/** Bytes of messages that wait to be taken, above which reading pauses, or to be sent, above which there is no room. */
const WAITING_BYTES = 4 * 1024 * 1024;

/**
 * Asks the server for a WebSocket.
 *
 * @throws the error of the connection, or the reason of the aborted signal.
 */
export function openWebSocket(options: WebSocketOptions): Promise<Upgrade> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const ws = new WebSocket(options.url, {
      headers: options.headers,
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes,
      closeTimeout: CLOSE_TIMEOUT,
      // Else a variable could turn the check off.
      rejectUnauthorized: true,
      ...(options.authorities.length === 0 ? {} : { ca: options.authorities }),
    });
    let headers = new Headers();
    const fail = (error: unknown) => {
      release();
      reject(error);
      ws.terminate();
    };
    const onAbort = () => fail(signal.reason);
    const timer = setTimeout(() => fail(new Error("The upgrade timed out")), options.openTimeoutMs);
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    ws.on("upgrade", (response) => headers = headersOf(response));
    ws.on("error", fail);
    ws.on("unexpected-response", (request, response) => {
      release();
      const end = () => request.destroy();
      const body = releasedBody(answerChunks(response, signal, end), () => {
        response.destroy();
        end();
      });
      resolve({ refusal: { status: response.statusCode ?? 0, headers: headersOf(response), body } });
    });
    // Messages may follow in the same tick: the queue exists before the caller knows of the connection.
    ws.on("open", () => {
      release();
      resolve({ socket: Object.assign(messageSocket(ws, options), { headers }) });
    });
  });
}

/** Reads and writes the messages of a connection; call it in the tick in which the connection opens. */
export function messageSocket(
  ws: WebSocket,
  { signal, monotonic }: Pick<WebSocketOptions, "signal" | "monotonic">,
): MessageSocket {
  const queue: SocketEvent[] = [];
  let waitingBytes = 0;
  let closed: SocketEvent | undefined;
  let cause: Error | undefined;
  let wake = () => {};
  let roomy: PromiseWithResolvers<void> | null = null;
  const makeRoom = () => {
    if (ws.bufferedAmount > WAITING_BYTES && closed === undefined) return;
    roomy?.resolve();
    roomy = null;
  };
  const put = (event: SocketEvent) => {
    queue.push(event);
    wake();
  };
  const onAbort = () => {
    ws.terminate();
    wake();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  ws.on("message", (data, isBinary) => {
    const bytes = bytesOf(data);
    put({ kind: isBinary ? "binary" : "text", bytes, arrivedAt: monotonic() });
    waitingBytes += bytes.length;
    if (waitingBytes > WAITING_BYTES) ws.pause();
  });
  ws.on("error", (error) => cause ??= error);
  ws.on("close", (code, reason) => {
    signal.removeEventListener("abort", onAbort);
    closed = {
      kind: "close",
      code,
      reason: reason.toString(),
      arrivedAt: monotonic(),
      ...(cause === undefined ? {} : { cause }),
    };
    put(closed);
    makeRoom();
  });
  return {
    get isOpen() {
      return ws.readyState === WebSocket.OPEN;
    },
    async next() {
      while (queue.length === 0) {
        signal.throwIfAborted();
        if (closed !== undefined) return closed;
        await new Promise<void>((resolve) => wake = resolve);
      }
      const event = queue.shift() as SocketEvent;
      if (event.kind === "close") return event;
      waitingBytes -= event.bytes.length;
      if (ws.isPaused && waitingBytes <= WAITING_BYTES) ws.resume();
      return event;
    },
    send(text) {
      // An error of sending ends the connection, and is its last event.
      if (ws.readyState === WebSocket.OPEN) ws.send(text, { binary: false }, makeRoom);
    },
    room() {
      if (ws.bufferedAmount <= WAITING_BYTES || closed !== undefined) return null;
      roomy ??= Promise.withResolvers();
      return roomy.promise;
    },
    close(code, reason) {
      ws.close(code, reason);
      // The close frame of the server is not read from a paused connection.
      if (ws.isPaused) ws.resume();
    },
    terminate: () => ws.terminate(),
  };
}

/** Returns the same memory as a plain array: other code would treat the runtime's `Buffer` differently from an array. */
function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  }
  return headers;
}

async function* answerChunks(
  response: IncomingMessage,
  signal: AbortSignal,
  release: () => void,
): AsyncGenerator<Uint8Array> {
  const onAbort = () => response.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const chunk of response) yield bytesOf(chunk);
  } catch (cause) {
    signal.throwIfAborted();
    throw new RepriseError("stream_cut", "The connection broke off in the middle of the refusal", { cause });
  } finally {
    signal.removeEventListener("abort", onAbort);
    release();
  }
}

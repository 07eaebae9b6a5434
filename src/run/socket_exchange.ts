/** One request over a WebSocket, and the limits of its waits (protocol §8.5). */
import { RepriseError } from "../domain/errors.ts";
import { headOf } from "../domain/text.ts";
import { answerTimeoutError, connectionError, stalledError } from "../transport/failure.ts";
import { type Deadline, startDeadline } from "../transport/live.ts";
import type { ClientSocket, SocketEvent } from "../transport/web_socket.ts";
import type { Ports } from "../domain/ports.ts";

export type CloseEvent = Extract<SocketEvent, { kind: "close" }>;

export class OpenExchange {
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

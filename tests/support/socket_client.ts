/**
 * A WebSocket client of the Responses API on the runtime's own `WebSocket`, which shares no code with the program's.
 */
import type { Json } from "./files.ts";

/** Events that end the answer to a message. */
const LAST = /^(error|response\.(completed|incomplete|failed|steer\..*))$/;

/** An open connection, and all events that arrived. */
export class SocketClient implements AsyncDisposable {
  readonly events: Json[] = [];
  /** Texts of the events, byte for byte. */
  readonly texts: string[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #socket: WebSocket;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      this.texts.push(data);
      this.events.push(JSON.parse(data));
      this.#wake();
    };
    const closed = Promise.withResolvers<{ code: number; reason: string }>();
    socket.onclose = ({ code, reason }) => {
      closed.resolve({ code, reason });
      this.#wake();
    };
    this.closed = closed.promise;
  }

  /** Connects to `BASE_URL/responses`. */
  static async open(baseUrl: string): Promise<SocketClient> {
    const socket = new WebSocket(`${baseUrl.replace(/^http/, "ws")}/responses`, {
      headers: { authorization: "Bearer key-1" },
    });
    const client = new SocketClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
    });
    socket.onerror = null;
    return client;
  }

  /** Sends a message without waiting; a text is sent as it is. */
  send(message: Json): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Sends a binary message. */
  sendBinary(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(bytes);
  }

  /** Sends a message; returns its events up to the last one, if no other message is open. */
  async ask(message: Json): Promise<Json[]> {
    this.send(message);
    return await this.until((events) => LAST.test(String(events.at(-1)?.type)));
  }

  /**
   * Returns the events from now on, when `enough` holds for them.
   *
   * @throws {Error} if the connection closes before.
   */
  async until(enough: (events: readonly Json[]) => boolean): Promise<Json[]> {
    const from = this.events.length;
    for (;;) {
      const events = this.events.slice(from);
      if (enough(events)) return events;
      if (this.#socket.readyState > WebSocket.OPEN) throw new Error("The server closed the connection");
      await this.#changed.promise;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

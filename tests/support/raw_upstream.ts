/** An upstream of a test, which says what the test makes it say byte by byte, and raw requests. */

/** An event of a stream as it is sent. */
export function sse(event: Record<string, unknown>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The event that ends a stream of the Responses API. */
export const COMPLETED = sse({ type: "response.completed", sequence_number: 9, response: { id: "resp_1" } });

/** Answer of a test's upstream to a request on one connection. */
export type Answer = (
  connection: Deno.Conn,
  request: { readonly head: string; readonly body: Uint8Array },
) => Promise<void>;

/** A server that says what a test makes it say, byte by byte. */
export class RawUpstream implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #running = new Set<Promise<void>>();
  readonly #connections = new Set<Deno.Conn>();
  /** The head and the body of each request that came. */
  readonly requests: { readonly head: string; readonly body: Uint8Array }[] = [];
  /** Number of connections, with and without a request. */
  accepted = 0;
  readonly origin = `http://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
  readonly #accepting: Promise<void>;

  constructor(answer: Answer) {
    this.#accepting = this.#accept(answer);
  }

  async #accept(answer: Answer): Promise<void> {
    for await (const connection of this.#listener) {
      this.accepted += 1;
      this.#connections.add(connection);
      const run = this.#serve(connection, answer).catch(() => {/* the other side let go */}).finally(() => {
        close(connection);
        this.#connections.delete(connection);
        this.#running.delete(run);
      });
      this.#running.add(run);
    }
  }

  async #serve(connection: Deno.Conn, answer: Answer): Promise<void> {
    const request = await readRequest(connection);
    this.requests.push(request);
    await answer(connection, request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#connections) close(connection);
    await this.#accepting;
    await Promise.all(this.#running);
  }
}

/** Writes a whole answer at once, and closes. */
export function answering(head: string, body: string | Uint8Array = ""): Answer {
  return async (connection) => {
    await write(connection, `HTTP/1.1 ${head}\r\nconnection: close\r\n\r\n`);
    await write(connection, body);
  };
}

/** Writes an event stream in these chunks, each in a piece of its own, and ends it in order. */
export function streaming(...chunks: readonly (string | Uint8Array)[]): Answer {
  return async (connection) => {
    await write(connection, STREAM_HEAD);
    for (const chunk of chunks) await writeChunk(connection, chunk);
    await write(connection, "0\r\n\r\n");
  };
}

/** Headers before a stream that is sent in chunks. */
export const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";

/** Writes one chunk of a chunked body, far enough from the next one that both arrive by themselves. */
export async function writeChunk(connection: Deno.Conn, chunk: string | Uint8Array): Promise<void> {
  const bytes = bytesOf(chunk);
  await write(connection, `${bytes.length.toString(16)}\r\n`);
  await write(connection, bytes);
  await write(connection, "\r\n");
  await pause(5);
}

/** Writes everything. */
export async function write(connection: Deno.Conn, text: string | Uint8Array): Promise<void> {
  const bytes = bytesOf(text);
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}

/** Sends raw bytes, and gives everything that comes until the other side ends it. */
export async function rawRequest(origin: string, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(origin).port) });
  await write(connection, text);
  let answer = "";
  const buffer = new Uint8Array(64 * 1024);
  for (let read = await connection.read(buffer); read !== null; read = await connection.read(buffer)) {
    answer += new TextDecoder().decode(buffer.subarray(0, read));
  }
  return answer;
}

/** Resolves after `ms` milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function readRequest(connection: Deno.Conn): Promise<{ head: string; body: Uint8Array }> {
  let bytes = new Uint8Array(0);
  const buffer = new Uint8Array(64 * 1024);
  for (;;) {
    const text = new TextDecoder("latin1").decode(bytes);
    const end = text.indexOf("\r\n\r\n");
    if (end !== -1) {
      const head = text.slice(0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (bytes.length >= end + 4 + length) return { head, body: bytes.slice(end + 4, end + 4 + length) };
    }
    const read = await connection.read(buffer);
    if (read === null) throw new Error("The request broke off");
    const longer = new Uint8Array(bytes.length + read);
    longer.set(bytes);
    longer.set(buffer.subarray(0, read), bytes.length);
    bytes = longer;
  }
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}

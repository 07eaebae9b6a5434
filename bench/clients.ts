/**
 * Clients that cost as little as they can: plain HTTP/1.1 over connections that stay open, so that the measured part
 * is the server.
 *
 * @module
 */
import { RepriseError } from "../src/domain/errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

/** A `POST` of JSON as the bytes of a request. */
export function postOf(origin: string, path: string, body: string): Uint8Array {
  const bytes = encoder.encode(body);
  return encoder.encode(
    `POST ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer bench\r\ncontent-length: ${bytes.length}\r\n\r\n${body}`,
  );
}

/**
 * Sends the requests over `clients` connections, each the next one as soon as it has its answer.
 *
 * @throws {RepriseError} `unexpected` for an answer with another status, or shorter than `leastBytes`.
 */
export async function sendAll(
  origin: string,
  requests: readonly Uint8Array[],
  { clients, leastBytes, status = 200 }: {
    readonly clients: number;
    readonly leastBytes: number;
    /** Status of every answer. @default {200} */
    readonly status?: number;
  },
): Promise<void> {
  const queue = requests.values();
  await Promise.all(Array.from({ length: clients }, async () => {
    let connection: Deno.TcpConn | undefined;
    const buffer = new Uint8Array(256 * 1024);
    try {
      for (const request of queue) {
        connection ??= await Deno.connect({
          hostname: "127.0.0.1",
          port: Number(new URL(origin).port),
        });
        connection.setNoDelay(true);
        await write(connection, request);
        const { bytes, closes } = await readAnswer(connection, buffer, status);
        if (bytes < leastBytes) throw broken(`an answer has ${bytes} bytes, fewer than ${leastBytes}`);
        if (!closes) continue;
        connection.close();
        connection = undefined;
      }
    } finally {
      connection?.close();
    }
  }));
}

async function write(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Reads one answer; `bytes` counts its body with the framing of chunks. */
async function readAnswer(
  connection: Deno.TcpConn,
  buffer: Uint8Array,
  status: number,
): Promise<{ readonly bytes: number; readonly closes: boolean }> {
  let head = "";
  let bytes = 0;
  let length: number | undefined;
  // The last five bytes, wherever the answer is cut.
  const last = new Uint8Array(5);
  for (;;) {
    const count = await connection.read(buffer);
    if (count === null) throw broken("a connection closed before its answer was whole");
    let from = 0;
    if (length === undefined) {
      const before = head.length;
      head += decoder.decode(buffer.subarray(0, Math.min(count, MOST_HEAD)));
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) continue;
      if (!head.startsWith(`HTTP/1.1 ${status}`)) {
        throw broken(`an answer is ${JSON.stringify(head.slice(0, 600))}`);
      }
      from = end + 4 - before;
      head = head.slice(0, end).toLowerCase();
      length = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? Infinity);
    }
    bytes += count - from;
    const tail = buffer.subarray(Math.max(from, count - 5), count);
    last.copyWithin(0, tail.length);
    last.set(tail, 5 - tail.length);
    // The stream itself holds no CR, so only the last chunk looks like this.
    if (bytes >= length || (length === Infinity && LAST_CHUNK.every((byte, at) => byte === last[at]))) break;
  }
  return { bytes, closes: /\r\nconnection: *close/.test(head) };
}

/** Longest head of an answer. */
const MOST_HEAD = 16 * 1024;
const LAST_CHUNK = encoder.encode("0\r\n\r\n");

function broken(why: string): RepriseError {
  return new RepriseError("unexpected", `Cannot measure the server: ${why}`);
}

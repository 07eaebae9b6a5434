/** Clients that cost as little as they can, so that the server is measured: HTTP/1.1 over connections that stay open. */
import { PATH } from "./stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");
const LAST_CHUNK = "\r\n0\r\n\r\n";

/** Requests, and the number of connections: each sends the next request as soon as it has its answer. */
export interface Sending {
  readonly bodies: readonly string[];
  readonly clients: number;
  /** @default {"/v1/responses"} */
  readonly path?: string;
}

/**
 * Posts the bodies.
 *
 * @throws {Error} for an answer with another status than 200.
 */
export async function sendAll(origin: string, { bodies, clients, path = PATH }: Sending): Promise<void> {
  const { port, host } = new URL(origin);
  const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer bench\r\n` +
    "content-type: application/json\r\ncontent-length: ";
  const queue = bodies.values();
  await Promise.all(Array.from({ length: clients }, async () => {
    const buffer = new Uint8Array(256 * 1024);
    let connection: Deno.TcpConn | null = null;
    for (const body of queue) {
      connection ??= await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
      const bytes = encoder.encode(`${head}${encoder.encode(body).length}\r\n\r\n${body}`);
      for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
      if (!await readAnswer(connection, buffer)) continue;
      connection.close();
      connection = null;
    }
    connection?.close();
  }));
}

/** Reads one answer; returns true if the connection ends with it. */
async function readAnswer(connection: Deno.TcpConn, buffer: Uint8Array): Promise<boolean> {
  for (let answer = "";;) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error("A connection closed before its answer was whole");
    answer += decoder.decode(buffer.subarray(0, count));
    const end = answer.indexOf("\r\n\r\n") + 4;
    if (end < 4) continue;
    const head = answer.slice(0, end);
    if (!head.startsWith("HTTP/1.1 200")) throw new Error(`The answer is ${JSON.stringify(answer)}`);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const isWhole = length === undefined
      ? answer.endsWith(LAST_CHUNK)
      : answer.length >= end + Number(length);
    if (isWhole) return /\r\nconnection: *close/i.test(head);
  }
}

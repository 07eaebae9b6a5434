/** Requests as exact bytes on a TCP connection: what no HTTP client would send. */

/** Bytes received on a connection until it ended. */
export interface RawAnswer {
  /** The bytes as Latin-1 text. */
  readonly text: string;
  /** Statuses of all answers. */
  readonly statuses: readonly number[];
  /** False where the server left the connection open for as long as the test waited. */
  readonly closed: boolean;
}

/** Bytes of a text: `\n` becomes CRLF, `PORT` the port; `\r\n` and characters up to U+00FF stay what they are. */
export function rawBytes(port: number, text: string): Uint8Array<ArrayBuffer> {
  const lines = text.replaceAll("PORT", String(port)).replace(/\r?\n/g, (end) => end === "\n" ? "\r\n" : end);
  return Uint8Array.from(lines, (character) => character.charCodeAt(0));
}

/** Sends the pieces on one connection, one after the other, and reads until it closes or `until` fits. */
export async function converse(
  port: number,
  pieces: readonly Uint8Array[],
  until: (text: string) => boolean = () => false,
): Promise<RawAnswer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  connection.setNoDelay(true);
  const sending = (async () => {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length;) at += await connection.write(piece.subarray(at));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    // A server that refuses early may close before it has read everything.
  })().catch(() => {});
  let text = "";
  let closed = false;
  const buffer = new Uint8Array(64 * 1024);
  while (!closed && !until(text)) {
    const read = await connection.read(buffer).catch(() => null);
    closed = read === null;
    text += Array.from(buffer.subarray(0, read ?? 0), (byte) => String.fromCharCode(byte)).join("");
  }
  await sending;
  const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
  return { text, statuses, closed };
}

/** Sends one request, after which the server is asked to close the connection. */
export function askRaw(port: number, request: string, body?: Uint8Array): Promise<RawAnswer> {
  const head = /^connection:/im.test(request) ? request : request.replace("\n\n", "\nConnection: close\n\n");
  return converse(port, [rawBytes(port, head), ...(body === undefined ? [] : [body])]);
}

/** A message that nests deeper than any reader of JSON can follow by recursion. */
export const DEEP = `{"type":"response.create","input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;

/** Frames of a client that break a limit: over 128 MiB, by its head alone, and text that is not UTF-8. */
export const BAD_FRAMES: Readonly<Record<number, readonly number[]>> = {
  1009: [0x81, 0xff, 0, 0, 0, 0, 8, 0, 0, 1, 0, 0, 0, 0],
  1007: [0x81, 0x81, 0, 0, 0, 0, 0xff],
};

/** The code with which a server closes a WebSocket of the Responses API after a frame. */
export async function closeCodeAfter(port: number, frame: readonly number[]): Promise<number> {
  const head = "GET /v1/responses HTTP/1.1\nHost: 127.0.0.1:PORT\nConnection: Upgrade\nUpgrade: websocket\n" +
    "Sec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n\n";
  const pieces = [rawBytes(port, head), Uint8Array.from(frame)];
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("The connection stays open")), 10_000);
  const closed = converse(port, pieces, (text) => /\x88.[^]{2}/.test(text));
  const { text } = await Promise.race([closed, late.promise]).finally(() => clearTimeout(timer));
  const [, code = ""] = /\x88.([^]{2})/.exec(text) ?? [];
  return code.charCodeAt(0) << 8 | code.charCodeAt(1);
}

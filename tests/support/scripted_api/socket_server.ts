/** A server on this machine that accepts WebSockets, or refuses them, as a test says. It knows no API. */
import type { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";

const SOCKETS = { noServer: true, perMessageDeflate: false, closeTimeout: 5000 };

/** The end of a WebSocket at the server. */
export interface ServerSocket {
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): void;
  on(event: "close", listener: (code: number, reason: Buffer) => void): void;
  on(event: "error", listener: () => void): void;
  send(data: string | Uint8Array, sent?: () => void): void;
  close(code?: number, reason?: string): void;
  pause(): void;
  resume(): void;
  readonly bufferedAmount: number;
}

/** Behaviour of a {@linkcode startSocketServer}. */
export interface SocketBehaviour {
  /** Called with each open connection, its number from 1, and the bytes' own socket. */
  readonly onSocket?: (socket: ServerSocket, number: number, raw: Duplex) => void;
  /** Answer to every upgrade; without it, upgrades are accepted. */
  readonly refusal?: Refusal;
  /** Answers a request that is no upgrade. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** An answer to an upgrade other than 101. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A running server. */
export interface SocketServer extends AsyncDisposable {
  readonly port: number;
  /** The upgrades so far. */
  readonly upgrades: readonly IncomingMessage[];
}

/** Starts a server; each accepted connection has the headers `x-connection` and `openai-organization`. */
export async function startSocketServer(behaviour: SocketBehaviour): Promise<SocketServer> {
  const { refusal } = behaviour;
  const sockets = new Set<Duplex>();
  const upgrades: IncomingMessage[] = [];
  const ends: Promise<void>[] = [];
  const server = createServer((request, response) => {
    if (request.headers.upgrade !== undefined && refusal !== undefined) {
      upgrades.push(request);
      response.writeHead(refusal.status, refusal.headers ?? {}).end(refusal.body ?? "");
    } else if (behaviour.onRequest !== undefined) behaviour.onRequest(request, response);
    else response.writeHead(404).end();
  });
  const webSockets = new WebSocketServer(SOCKETS);
  webSockets.on("headers", (headers: string[]) => {
    headers.push(
      `x-connection: ${upgrades.length}`,
      "openai-organization: org-test",
      "openai-project: proj_test",
    );
  });
  const keep = (socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => {/* a client that left */});
    socket.on("close", () => sockets.delete(socket));
  };
  server.on("connection", keep);
  // Without a listener the server treats an upgrade like any request.
  if (refusal === undefined) {
    server.on("upgrade", (request: IncomingMessage, raw: Duplex, head: Buffer) => {
      upgrades.push(request);
      keep(raw);
      const number = upgrades.length;
      webSockets.handleUpgrade(request, raw, head, (socket: ServerSocket) => {
        ends.push(new Promise<void>((resolve) => socket.on("close", () => resolve())));
        socket.on("error", () => {/* the client's end reports it */});
        behaviour.onSocket?.(socket, number, raw);
      });
    });
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(ends);
    await new Promise((resolve) => server.close(resolve));
  };
  // A server that is closed does not call back when it is closed again.
  let stopped: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    upgrades,
    [Symbol.asyncDispose]: () => stopped ??= stop(),
  };
}

/** Writes the first `length` bytes of a text message's frame to the connection, and cuts it. */
export function cutFrame(raw: Duplex, text: string, length: number): void {
  const bytes = new TextEncoder().encode(text);
  const size = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 255];
  const frame = new Uint8Array([0x81, ...size, ...bytes]);
  raw.write(frame.subarray(0, length), () => raw.destroy());
}

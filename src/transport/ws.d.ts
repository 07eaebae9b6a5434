/** Types of the members of npm `ws` that the program and its tests use; the package itself has none. */
import type { Buffer } from "node:buffer";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

interface ClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly followRedirects?: boolean;
  readonly perMessageDeflate?: boolean;
  readonly handshakeTimeout?: number;
  readonly maxPayload?: number;
  readonly closeTimeout?: number;
  readonly ca?: readonly string[];
  readonly rejectUnauthorized?: boolean;
}

interface Events {
  upgrade: [response: IncomingMessage];
  "unexpected-response": [request: ClientRequest, response: IncomingMessage];
  open: [];
  message: [data: Buffer, isBinary: boolean];
  ping: [data: Buffer];
  error: [error: Error];
  close: [code: number, reason: Buffer];
}

/** A connection: of a client, or of a server. */
export class WebSocket {
  static readonly OPEN: 1;
  constructor(url: string, options: ClientOptions);
  readonly readyState: number;
  readonly isPaused: boolean;
  readonly bufferedAmount: number;
  on<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  once<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  send(data: string | Uint8Array, sent?: (error?: Error) => void): void;
  send(
    data: string | Uint8Array,
    options: { readonly binary?: boolean },
    sent?: (error?: Error) => void,
  ): void;
  close(code?: number, reason?: string): void;
  pause(): void;
  resume(): void;
  terminate(): void;
}

export interface ServerOptions {
  readonly noServer: true;
  readonly perMessageDeflate?: boolean;
  readonly maxPayload?: number;
  readonly closeTimeout?: number;
}

/** Accepts upgrades of connections that another server listens for. */
export class WebSocketServer {
  constructor(options: ServerOptions);
  on(name: "headers", listener: (headers: string[], request: IncomingMessage) => void): this;
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    opened: (socket: WebSocket) => void,
  ): void;
  close(): void;
}

/** Writes frames. */
export class Sender {
  /** Returns a frame in pieces: its head, and its payload. */
  static frame(
    data: Uint8Array,
    options: {
      readonly fin: boolean;
      readonly rsv1: boolean;
      readonly opcode: number;
      readonly mask: boolean;
      readonly readOnly: boolean;
    },
  ): Uint8Array[];
}

/**
 * Support for tests of requests over a WebSocket: a client, a server that answers as a test says, and short items.
 *
 * @module
 */
import { ok } from "node:assert/strict";
import type { Duplex } from "node:stream";
import { apiOf } from "../../../src/apis/apis.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { createSocketSend, type SocketSendOptions } from "../../../src/run/socket_send.ts";
import { type HttpRequest, type HttpResponse, readText, type Send } from "../../../src/transport/http.ts";
import type { ClientSocket } from "../../../src/transport/web_socket.ts";
import type { WebSocket } from "../../../src/transport/ws.ts";
import { type SocketBehaviour, startSocketServer } from "../../support/socket_server.ts";
import { livePorts } from "../transport/support.ts";

/** The client, and what the server and the fallback got. */
export interface Scene {
  readonly send: (
    input: readonly JsonObject[],
    more?: JsonObject,
    signal?: AbortSignal,
  ) => Promise<HttpResponse>;
  readonly received: readonly JsonObject[];
  /** Number of the connection of each received message. */
  readonly connections: readonly number[];
  readonly overHttp: readonly HttpRequest[];
  readonly notes: readonly string[];
}

/** Answers a message; `nth` counts them from 1. */
export type Answering = (socket: WebSocket, message: JsonObject, nth: number, raw: Duplex) => void;

/** Plays a scene: `options` are for the client, `url` is its base URL. */
export async function scene(
  answering: Answering,
  play: (scene: Scene) => Promise<void>,
  { options = {}, behaviour = {}, url = (port: number) => `http://127.0.0.1:${port}/v1` }: {
    readonly options?: Partial<SocketSendOptions>;
    readonly behaviour?: SocketBehaviour;
    readonly url?: (port: number) => string;
  } = {},
): Promise<void> {
  const received: JsonObject[] = [];
  const connections: number[] = [];
  await using server = await startSocketServer({
    onSocket: (socket, number, raw) =>
      socket.on("message", (data) => {
        received.push(JSON.parse(data.toString()));
        connections.push(number);
        answering(socket, received.at(-1) as JsonObject, received.length, raw);
      }),
    ...behaviour,
  });
  const overHttp: HttpRequest[] = [];
  const notes: string[] = [];
  const http: Send = (request) => {
    overHttp.push(request);
    return Promise.resolve({ status: 418, headers: new Headers(), body: ReadableStream.from([]) });
  };
  const { socket } = apiOf("openai");
  ok(socket !== null);
  const baseUrl = url(server.port);
  const sockets: ClientSocket[] = [];
  const client = createSocketSend({
    ports: livePorts(),
    api: socket,
    http,
    onFallback: (note) => notes.push(note),
    responseTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    maxBodyBytes: 100_000,
    origin: new URL(baseUrl).origin,
    ...options,
    wrapSocket: (socket, upgrade) => {
      sockets.push(socket);
      return options.wrapSocket?.(socket, upgrade) ?? socket;
    },
  });
  const stop = new AbortController();
  const send: Scene["send"] = (input, more = {}, signal = stop.signal) => {
    const headers = { authorization: "Bearer sk-test", accept: "text/event-stream" };
    const body = JSON.stringify({ model: "m", store: false, stream: true, ...more, input });
    return client.send({ url: `${baseUrl}/responses`, headers, body }, signal);
  };
  try {
    await play({ send, received, connections, overHttp, notes });
  } finally {
    client.close();
    await Promise.all(sockets.map(untilClosed));
  }
}

/** Waits for the end of a connection that is closing, and of its timers. */
async function untilClosed(socket: ClientSocket): Promise<void> {
  try {
    while ((await socket.next()).kind !== "close");
  } catch {
    // Stopped by the test: it ends at once.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A message of the user. */
export const say = (text: string): JsonObject => ({ type: "message", role: "user", content: text });
/** An item of an answer. */
export const reply = (text: string): JsonObject => ({
  ...{ id: `msg_${text}`, type: "message", status: "completed", role: "assistant" },
  content: [{ type: "output_text", text, annotations: [] }],
});
/** The reply as the fold sends it back: without its status. */
export const sentBack = (text: string): JsonObject => {
  const { status: _, ...item } = reply(text);
  return item;
};

/** The events of an answer with one item. */
export const eventsOf = (id: string, text: string): JsonObject[] => [
  { type: "response.created", response: { id, status: "in_progress", output: [] } },
  { type: "response.output_item.done", output_index: 0, item: reply(text) },
  { type: "response.completed", response: { id, status: "completed", output: [reply(text)] } },
];
/** Sends each event as a message. */
export const sendAll = (socket: WebSocket, events: readonly JsonObject[]) => {
  for (const event of events) socket.send(JSON.stringify(event));
};
/** Answers message N with the response `resp_N`, whose text is `rN`. */
export const answerAll: Answering = (socket, _, nth) => sendAll(socket, eventsOf(`resp_${nth}`, `r${nth}`));
/** An error message. */
export const refusing = (error: JsonObject, status?: number): JsonObject => ({
  type: "error",
  ...(status === undefined ? {} : { status }),
  error,
});

/** The body of an answer. */
export const textOf = (response: HttpResponse) => readText(response.body, 1_000_000);
/** For each message, the response that it continues, and the types of its items. */
export const inputs = (received: readonly JsonObject[]) =>
  received.map((
    { previous_response_id: id, input },
  ) => [id, (input as JsonObject[]).map((item) => item.type)]);

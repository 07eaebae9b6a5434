/**
 * A Responses API on 127.0.0.1 that speaks HTTP and WebSocket on one port and enforces the rules of both (protocol §6.2,
 * §8.5). Its rules share no code with the program.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/json.ts";
import { compacted } from "./responses_server.ts";
import { encodeEvents } from "./responses_server/events.ts";
import { Answerer, DIALECT } from "./responses_socket/answerer.ts";
import { Connection } from "./responses_socket/connection.ts";
import { type ApiError, apiError } from "./responses_socket/rules.ts";
import type { ResponsesSocketOptions, SocketRequest } from "./responses_socket/script.ts";
import { startSocketServer } from "./socket_server.ts";

export type { Break, ResponsesSocketOptions, SocketRequest } from "./responses_socket/script.ts";

/** A running server. */
export interface ResponsesSocket extends AsyncDisposable {
  /** For clients: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  /** Requests over both transports in order of arrival, with the whole input. */
  readonly requests: readonly SocketRequest[];
  /** The errors for requests that broke a rule. */
  readonly refusals: readonly ApiError[];
  readonly upgrades: readonly IncomingMessage[];
  /** Number of bytes of text messages in each direction. */
  readonly socketBytes: { readonly received: number; readonly sent: number };
}

/** Starts a server on a free port. */
export async function startResponsesSocket(options: ResponsesSocketOptions): Promise<ResponsesSocket> {
  const answerer = new Answerer(options);
  const socketBytes = { received: 0, sent: 0 };
  const server = await startSocketServer({
    ...(options.refusal === undefined ? {} : { refusal: options.refusal }),
    onSocket: (socket, number, raw) => {
      const upgrade = server.upgrades[number - 1];
      if (upgrade === undefined) throw new Error("An upgrade is missing");
      new Connection({ socket, raw, number, ...placeOf(upgrade), options, answerer, socketBytes });
    },
    onRequest: (incoming, outgoing) => {
      answerHttp(incoming, outgoing, answerer).catch((error) => outgoing.writeHead(500).end(String(error)));
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests: answerer.requests,
    refusals: answerer.refusals,
    upgrades: server.upgrades,
    socketBytes,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function answerHttp(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answerer: Answerer,
): Promise<void> {
  const text = await textOf(incoming);
  const place = placeOf(incoming);
  const own = {
    "x-request-id": `req_${String(answerer.requests.length + 1).padStart(8, "0")}`,
    "openai-organization": "org-test",
    "openai-project": "proj_test",
  };
  const json = (status: number, value: JsonValue) =>
    outgoing.writeHead(status, { ...own, "content-type": "application/json" }).end(JSON.stringify(value));
  const message = parsedObject(text);
  if (incoming.method !== "POST" || !/\/responses(\/compact)?$/.test(place.path) || message === null) {
    json(404, { error: { ...apiError(`Invalid URL (${incoming.method} ${place.path})`) } });
    return;
  }
  if (place.path.endsWith("/compact")) {
    const scripted = compacted(message, answerer.issuer);
    if (scripted.kind === "http") json(scripted.status, JSON.parse(scripted.body));
    return;
  }
  const answer = await answerer.answerTo({
    ...place,
    transport: "http",
    connection: 0,
    message,
    text,
    streamId: undefined,
    remembered: () => undefined,
  });
  if (answer.kind === "error") json(answer.status, { error: answer.error });
  else if (message.stream !== true) json(200, answer.response);
  else {
    outgoing.writeHead(200, { ...own, "content-type": "text/event-stream; charset=utf-8" });
    outgoing.end(encodeEvents(answer.events, DIALECT, answer.scripted.options));
  }
}

/** Parses a JSON object; `null` if the text is none. */
export function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function placeOf({ url, headers }: IncomingMessage): Pick<SocketRequest, "path" | "headers"> {
  return {
    path: new URL(url ?? "/", "http://localhost").pathname,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}

async function textOf(incoming: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

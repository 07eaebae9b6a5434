/** The Responses API over WebSocket and HTTP on one port, with the rules of both (protocol §6.2, §8.5). */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Json } from "../files.ts";
import { itemsOf } from "./judge.ts";
import { newResponsesApi, type RecordedRequest, type Script } from "./responses.ts";
import { parsed, type ScriptedServer } from "./server.ts";
import { cutFrame, type Refusal, type ServerSocket, startSocketServer } from "./socket_server.ts";

/** A request over either transport. */
export type SocketRequest = RecordedRequest;

/** End of a connection in the middle of an answer. */
export interface Break {
  /** Number of messages of the answer before it. */
  readonly afterMessages: number;
  /** `cut` ends the connection without a close frame; `frame` sends half of the next message before that. */
  readonly how: "cut" | "frame" | { readonly code: number; readonly reason: string };
}

/** Options of a server. */
export interface ResponsesSocketOptions {
  /** Answers to `response.create` as over HTTP; warm-ups and refused requests use none up. */
  readonly script: Script;
  /** Answer to every upgrade in place of a WebSocket. */
  readonly refusal?: Refusal;
  /** Returns the place at which the connection breaks during this answer. */
  readonly breakAt?: (request: SocketRequest) => Break | undefined;
}

/** A running server. */
export interface ResponsesSocket extends ScriptedServer<SocketRequest> {
  readonly upgrades: readonly IncomingMessage[];
}

/** Starts a server on a free port. */
export async function startResponsesSocket(options: ResponsesSocketOptions): Promise<ResponsesSocket> {
  const api = newResponsesApi(options);
  const stopping = new AbortController();
  /** Responses with `store: true`, which outlive their connection. */
  const stored = new Map<string, Chainable>();
  const server = await startSocketServer({
    ...(options.refusal === undefined ? {} : { refusal: options.refusal }),
    onSocket: (socket, connection, raw) => {
      const upgrade = server.upgrades[connection - 1] as IncomingMessage;
      new Connection({ socket, raw, connection, upgrade, options, api, stored });
    },
    onRequest: (incoming, outgoing) => {
      respond(incoming, outgoing, (request) => api.respond(request, stopping.signal))
        .catch(() => outgoing.destroy());
    },
  });
  const stop = async () => {
    stopping.abort();
    await server[Symbol.asyncDispose]();
  };
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests: api.requests,
    refusals: api.refusals,
    upgrades: server.upgrades,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const urlOf = ({ url = "/" }: IncomingMessage) => new URL(url, "http://localhost");
const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const { method = "GET" } = incoming;
  const text = Buffer.concat(await Array.fromAsync(incoming)).toString("utf8");
  const body = text === "" ? {} : { body: text };
  const response = await handle(
    new Request(urlOf(incoming), { method, headers: headersOf(incoming), ...body }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const chunk of response.body ?? []) outgoing.write(chunk);
  outgoing.end();
}

/** A response that a later request may continue: its whole input, then its output. */
interface Chainable {
  readonly id: string;
  readonly items: readonly Json[];
}

interface Lane {
  /** Ends when all requests before are answered. */
  turn: Promise<void>;
  /** The only response of the lane that can be continued. */
  latest: Chainable | undefined;
}

interface ConnectionContext {
  readonly socket: ServerSocket;
  readonly raw: Duplex;
  readonly connection: number;
  readonly upgrade: IncomingMessage;
  readonly options: ResponsesSocketOptions;
  readonly api: ReturnType<typeof newResponsesApi>;
  readonly stored: Map<string, Chainable>;
}

/** One WebSocket: lanes in which requests are answered one after the other. */
class Connection {
  readonly #context: ConnectionContext;
  /** By `stream_id`; the default lane has the empty name. */
  readonly #lanes = new Map<string, Lane>();
  readonly #closed: Promise<void>;
  #isClosed = false;

  constructor(context: ConnectionContext) {
    this.#context = context;
    const { socket } = context;
    this.#closed = new Promise((resolve) => socket.on("close", () => resolve()));
    this.#closed.then(() => this.#isClosed = true);
    socket.on("message", (data, isBinary) => {
      if (isBinary) return socket.close(1003, "Binary messages are not supported");
      const text = data.toString("utf8");
      const message = parsed(text);
      if (message?.type !== "response.create") return socket.close(1003, `No type ${message?.type} is known`);
      const name = message.stream_id ?? "";
      const lane = this.#lanes.get(name) ?? { turn: Promise.resolve(), latest: undefined };
      this.#lanes.set(name, lane);
      lane.turn = lane.turn.then(() => this.#isClosed ? undefined : this.#answer(lane, message, text))
        .catch((error) => socket.close(1011, String(error).slice(0, 100)));
    });
  }

  async #answer(lane: Lane, message: Json, text: string): Promise<void> {
    const { connection, upgrade, api, stored, options } = this.#context;
    const { type: _, stream_id: streamId, previous_response_id: sentId, ...fields } = message;
    const previousId = sentId ?? undefined;
    // A lane without a previous response starts afresh.
    if (previousId === undefined) lane.latest = undefined;
    const lanes = [...this.#lanes.values()];
    const previous = lanes.find(({ latest }) => latest?.id === previousId)?.latest ?? stored.get(previousId);
    const isLost = previousId !== undefined && previous === undefined;
    const body = {
      ...fields,
      input: [...previous?.items ?? [], ...itemsOf(message.input)],
      // The rules refuse a response that is not there.
      ...(isLost ? { previous_response_id: previousId, store: false } : {}),
    };
    const place = { transport: "ws", connection, message } as const;
    const { sent, answer } = await api.answerTo({
      ...place,
      method: "POST",
      path: urlOf(upgrade).pathname,
      headers: headersOf(upgrade),
      text,
      body,
    });
    const evict = () => {
      for (const each of lanes) if (each.latest?.id === previousId) each.latest = undefined;
    };
    if (answer.kind === "bytes") throw new TypeError("A WebSocket sends no bytes of a script");
    if (answer.kind === "http") {
      evict();
      const { error } = parsed(answer.body);
      return this.#send({ type: "error", status: answer.status, error }, streamId);
    }
    const own = { ...sent, body: { ...message, store: message.store ?? true } };
    const { events, whole } = api.adapter.written(answer, own);
    if (whole.status === "completed" || whole.status === "incomplete") {
      const output = events.filter((event) => event.type === "response.output_item.done");
      lane.latest = { id: whole.id, items: [...body.input, ...output.map(({ item }) => item)] };
      if (message.store !== false) stored.set(whole.id, lane.latest);
    } else evict();
    const { delivery, end } = answer.options;
    const at = options.breakAt?.(sent);
    for (const [index, event] of events.entries()) {
      if (delivery?.delayMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, delivery.delayMs));
      }
      if (this.#isClosed) return;
      if (index === at?.afterMessages) return this.#break(at.how, event);
      this.#send(event, streamId);
    }
    if (at !== undefined) return this.#break(at.how, {});
    if (end?.kind === "cut") return this.#break({ code: 1011, reason: "" }, {});
    if (end?.kind === "reset") return this.#break("cut", {});
    if (end?.kind === "stall") await this.#closed;
  }

  #break(how: Break["how"], next: Json): void {
    const { socket, raw } = this.#context;
    if (how === "cut") raw.destroy();
    else if (how === "frame") cutFrame(raw, JSON.stringify(next), 10);
    else socket.close(how.code, how.reason);
  }

  #send(event: Json, streamId?: string): void {
    this.#context.socket.send(
      JSON.stringify(streamId === undefined ? event : { ...event, stream_id: streamId }),
    );
  }
}

import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { WebSocket } from "../../../src/transport/ws.ts";
import { parsedObject } from "../responses_socket.ts";
import { cutFrame } from "../socket_server.ts";
import type { Answer, Answerer, Chainable } from "./answerer.ts";
import { type ApiError, apiError } from "./rules.ts";
import type { Break, ResponsesSocketOptions, SocketRequest } from "./script.ts";

/** Limits of a connection (protocol §8.5). */
export const MAX_IN_FLIGHT = 16;
/** Named lanes beside the default one. */
export const MAX_LANES = 32;
const STREAM_ID = /^[A-Za-z0-9_.-]{1,256}$/;

/** Surroundings of a connection. */
export interface ConnectionContext {
  readonly socket: WebSocket;
  readonly raw: Duplex;
  readonly number: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: ResponsesSocketOptions;
  readonly answerer: Answerer;
  readonly socketBytes: { received: number; sent: number };
}

interface Lane {
  /** Ends when all requests before are answered. */
  turn: Promise<void>;
  /** The only response of the lane that can be continued. */
  latest: Chainable | undefined;
}

/** One WebSocket: lanes in which requests are answered one after the other. */
export class Connection {
  readonly #context: ConnectionContext;
  /** By `stream_id`; the default lane has the empty name. */
  readonly #lanes = new Map<string, Lane>();
  #inFlight = 0;
  #received = 0;
  #closed = false;

  constructor(context: ConnectionContext) {
    this.#context = context;
    context.socket.on("close", () => this.#closed = true);
    context.socket.on("message", (data, isBinary) => {
      if (isBinary) return context.socket.close(1003, "Binary messages are not supported");
      const text = data.toString("utf8");
      context.socketBytes.received += data.length;
      this.#receive(text);
    });
  }

  #receive(text: string): void {
    const message = parsedObject(text);
    if (message === null) return this.#refuse(apiError("The message is not a JSON object."));
    if (message.type === "response.steer") return this.#steer(message);
    if (message.type !== "response.create") {
      return this.#refuse(
        apiError(`Invalid value: '${message.type}'.`, { param: "type", code: "invalid_value" }),
      );
    }
    const { stream_id: id } = message;
    if (id !== undefined && (typeof id !== "string" || !STREAM_ID.test(id))) {
      return this.#refuse(
        apiError("Invalid 'stream_id'.", { param: "stream_id", code: "invalid_stream_id" }),
      );
    }
    const limit = this.#limitReached(id);
    if (limit !== null) return this.#refuse(limit, id);
    if (++this.#received > (this.#context.options.requestsPerConnection ?? Infinity)) {
      const words = "Responses websocket connection limit reached (60 minutes). Create a new websocket " +
        "connection to continue.";
      this.#refuse(apiError(words, { code: "websocket_connection_limit_reached" }), id);
      return this.#context.socket.close(1000, "");
    }
    const lane = this.#laneOf(id ?? "");
    this.#inFlight++;
    lane.turn = lane.turn
      .then(() => this.#closed ? undefined : this.#answer(lane, { message, text, streamId: id }))
      .catch((error) => this.#context.socket.close(1011, String(error).slice(0, 100)))
      .finally(() => this.#inFlight--);
  }

  #limitReached(id: string | undefined): ApiError | null {
    const code = "websocket_stream_limit_reached";
    if (this.#inFlight >= MAX_IN_FLIGHT) {
      return apiError(`At most ${MAX_IN_FLIGHT} responses can be in flight on a connection.`, { code });
    }
    const named = [...this.#lanes.keys()].filter((name) => name !== "");
    if (id === undefined || this.#lanes.has(id) || named.length < MAX_LANES) return null;
    return apiError(`At most ${MAX_LANES} streams can be open on a connection.`, {
      code,
      param: "stream_id",
    });
  }

  #laneOf(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { turn: Promise.resolve(), latest: undefined };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Only a response in flight can be steered; scripts have none that is. */
  #steer({ previous_response_id, input }: JsonObject): void {
    this.#send({
      type: "response.steer.failed",
      sequence_number: 0,
      steer: { previous_response_id: previous_response_id ?? null, input: input ?? null },
      error: { code: "response_not_active", message: "The response is no longer accepting steering input." },
    });
  }

  async #answer(lane: Lane, request: Pick<SocketRequest, "message" | "text" | "streamId">): Promise<void> {
    const { number, path, headers, answerer, options } = this.#context;
    const previousId = request.message.previous_response_id;
    // A lane without a previous response starts afresh.
    if (previousId === undefined || previousId === null) lane.latest = undefined;
    const remembered = (id: string) =>
      [...this.#lanes.values()].find(({ latest }) => latest?.id === id)?.latest;
    const place = { transport: "ws", connection: number, path, headers } as const;
    const answer = await answerer.answerTo({ ...request, ...place, remembered });
    const { streamId } = request;
    if (answer.kind === "error") {
      this.#evict(previousId);
      return this.#send({ type: "error", status: answer.status, error: answer.error }, streamId);
    }
    if (answer.chainable === undefined) this.#evict(previousId);
    else lane.latest = answer.chainable;
    await this.#sendAll(answer, streamId, options.breakAt?.(answer.request));
  }

  async #sendAll(
    answer: Extract<Answer, { kind: "events" }>,
    streamId: string | undefined,
    at: Break | undefined,
  ) {
    const { delivery, end } = answer.scripted.options;
    for (const [index, event] of answer.events.entries()) {
      if (delivery?.delayMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, delivery.delayMs));
      }
      if (this.#closed) return;
      if (index === at?.afterMessages) return this.#break(at.how, event);
      this.#send(event, streamId);
    }
    if (at !== undefined) return this.#break(at.how, {});
    switch (end?.kind) {
      case "cut":
        return this.#break({ code: 1011, reason: "" }, {});
      case "reset":
        return this.#break("cut", {});
      case "stall":
        await new Promise<void>((resolve) => this.#context.socket.once("close", () => resolve()));
    }
  }

  #break(how: Break["how"], next: JsonObject): void {
    const { socket, raw } = this.#context;
    if (how === "cut") raw.destroy();
    else if (how === "frame") cutFrame(raw, JSON.stringify(next), 10);
    else socket.close(how.code, how.reason);
  }

  #evict(id: unknown): void {
    for (const lane of this.#lanes.values()) {
      if (lane.latest !== undefined && lane.latest.id === id) lane.latest = undefined;
    }
  }

  #refuse(error: ApiError, streamId?: string): void {
    this.#context.answerer.refuse(error);
    this.#send({ type: "error", status: 400, error: { ...error } }, streamId);
  }

  #send(event: JsonObject, streamId?: string): void {
    const text = JSON.stringify(streamId === undefined ? event : { ...event, stream_id: streamId });
    this.#context.socketBytes.sent += Buffer.byteLength(text);
    this.#context.socket.send(text);
  }
}

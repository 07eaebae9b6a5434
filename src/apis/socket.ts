/**
 * An API over a WebSocket: each request and each event is one text message. A request and its events have an HTTP
 * equivalent, so that all code that reads requests and answers works on both.
 */
import type { JsonObject } from "../domain/json.ts";

export type ClientMessage = CreateMessage | OtherMessage;

export interface CreateMessage {
  readonly kind: "create";
  readonly type: string;
  /** Its `stream_id`; `null` on the default lane. An id that is no string becomes "", which no lane may have. */
  readonly lane: string | null;
  /** Its `previous_response_id`. */
  readonly previous: string | null;
  /** True with `generate: false`: the response has no output, and later messages may continue it. */
  readonly warmUp: boolean;
  /** Body of the HTTP equivalent; with `previous_response_id`, its input is only what the message holds. */
  readonly body: JsonObject;
}

/** A message of another type, or one that is no JSON object. */
export interface OtherMessage {
  readonly kind: "other";
  /** `null` if it has none. */
  readonly type: string | null;
  readonly lane: string | null;
}

export interface ServerMessage {
  readonly text: string;
  /** `undefined` if the text is no JSON object. */
  readonly json: JsonObject | undefined;
  readonly type: string | null;
  readonly lane: string | null;
  /** True for the last event of a response. */
  readonly ends: boolean;
  /** The answer over HTTP, if the message is an error with a status. */
  readonly refusal: HttpError | null;
}

export interface HttpError {
  readonly status: number;
  /** The JSON body. */
  readonly body: string;
}

/** Refers to an earlier response of the connection. */
export interface Continuation {
  readonly responseId: string;
  /** Index of the first item of the input that the earlier request and its response do not hold. */
  readonly from: number;
}

/** Resolution of a request's `previous_response_id`; `unknown` if the connection has no such response. */
export type ChainState = "full" | "continued" | "unknown";

/** A request of a connection, and the response that later requests may continue. */
export interface ChainedRequest {
  readonly state: ChainState;
  /** Body of the HTTP equivalent, with the whole input unless `state` is `unknown`. */
  readonly body: JsonObject;
  /** Id of its response, after its last event; `null` before, and for a response that failed. */
  readonly responseId: string | null;
  /** True if its response failed: `previous_response_id` then names no response of the connection any more. */
  readonly failed: boolean;
  /** Takes the next event of its response. */
  take(event: JsonObject): void;
}

/** The responses of a connection that a request may continue. */
export interface ResponseChain {
  open(message: CreateMessage): ChainedRequest;
}

/** The open requests of a connection by lane. One lane answers its requests in order. */
export interface Lanes<Request> {
  /** Adds a request; returns the text of the error message if the connection refuses it. */
  open(message: ClientMessage, request: Request): string | null;
  /** Returns the request that a message of the server belongs to, and closes it after its last event. */
  take(message: ServerMessage): Request | undefined;
  /** Closes a request before its last event. */
  close(request: Request): void;
  /** Open requests in order of arrival. */
  readonly requests: readonly Request[];
}

/** A message for a request of a {@linkcode SocketConversation}. */
export interface ConversationMessage {
  readonly text: string;
  /** True if the message has only the items that the server does not have from this connection. */
  readonly continues: boolean;
}

/** A message of the server in a {@linkcode SocketConversation}. */
export interface ConversationStep {
  /** The event of the HTTP equivalent, as the text of an event stream. */
  readonly event: string;
  /** True for the last event of the response. */
  readonly ends: boolean;
  readonly isError: boolean;
  /** As in {@linkcode ServerMessage}. */
  readonly refusal: HttpError | null;
  /** Headers of the answer that an error holds. */
  readonly headers: Readonly<Record<string, string>>;
  /** True before the answer itself: the response has begun, or the server shows that it is alive. */
  readonly isPrelude: boolean;
  /**
   * Lost according to an error: the connection, or the response that the request continues, whatever the reason of the
   * refusal; `null` for neither.
   */
  readonly loss: "response" | "connection" | null;
}

/** Requests of one client on one connection, each after the answer to the one before. */
export interface SocketConversation {
  /**
   * Returns the message for the request with this HTTP body. It continues the response to the request before if that
   * response completed, and the body extends it.
   */
  open(body: string): ConversationMessage;
  /**
   * Reads a message of the server, for the request that was opened last; `null` for one that belongs to the request
   * before, which the server had refused.
   */
  take(text: string): ConversationStep | null;
  /** Makes the next request hold its whole input: the connection is another one. */
  forget(): void;
}

export interface SocketApi {
  /** True for the path of the upgrade and of its requests over HTTP. */
  ownsPath(pathname: string): boolean;
  readMessage(text: string): ClientMessage;
  /**
   * Writes the message that asks for what the HTTP body asks for, without `stream` and `background`.
   *
   * @param body As `parseExact` returns it.
   */
  createMessage(body: JsonObject, options?: {
    readonly continuation?: Continuation | null;
    readonly lane?: string | null;
  }): string;
  readEvent(text: string): ServerMessage;
  /** Writes the event of the HTTP equivalent, without the `stream_id` of the message. */
  sseEvent(message: ServerMessage): string;
  /** Returns the message for the data of an event; `null` if it has none, such as `[DONE]`. */
  eventMessage(data: string, lane?: string | null): string | null;
  /** Writes the error message for an HTTP answer with this status and body. */
  errorMessage(answer: HttpError, lane?: string | null): string;
  /** Returns the text of a server's message with the `stream_id` of a lane; unchanged if it has it. */
  inLane(text: string, lane: string | null): string;
  /** The refusal of a `previous_response_id` that the connection does not know. */
  previousNotFound(responseId: string): HttpError;
  newConversation(): SocketConversation;
  /** Writes the messages of a response without output, which later messages may continue. */
  emptyResponse(message: CreateMessage, id: string): readonly string[];
  newChain(): ResponseChain;
  newLanes<Request>(): Lanes<Request>;
}

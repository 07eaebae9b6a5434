import type { JsonObject } from "../../../src/domain/json.ts";
import type { RecordedRequest } from "../responses_server.ts";
import type { ScriptedResponse } from "../responses_server/script.ts";
import type { Refusal } from "../socket_server.ts";

/** A request over either transport. */
export interface SocketRequest extends RecordedRequest {
  readonly transport: "http" | "ws";
  /** Number of its WebSocket from 1; 0 over HTTP. */
  readonly connection: number;
  /** Message or body as sent: with `previous_response_id`, and `input` not resolved. */
  readonly message: JsonObject;
  /** Name of its lane. */
  readonly streamId: string | undefined;
}

/** End of a connection in the middle of an answer. */
export interface Break {
  /** Number of messages of the answer before it. */
  readonly afterMessages: number;
  /** `cut` ends the connection without a close frame; `frame` sends half of the next message before that. */
  readonly how: "cut" | "frame" | { readonly code: number; readonly reason: string };
}

/** Options of a server. */
export interface ResponsesSocketOptions {
  /** Answers to `response.create`, as in `startResponsesServer`; warm-ups and refused requests use none up. */
  readonly script:
    | readonly ScriptedResponse[]
    | ((request: SocketRequest) => ScriptedResponse | Promise<ScriptedResponse>);
  /** Answer to every upgrade in place of a WebSocket. */
  readonly refusal?: Refusal;
  /**
   * Number of requests that a connection answers before it reports its limit and closes.
   *
   * @default {Infinity}
   */
  readonly requestsPerConnection?: number;
  /** Returns the place at which the connection breaks during this answer. */
  readonly breakAt?: (request: SocketRequest) => Break | undefined;
  /** @default {"org-test"} */
  readonly organization?: string;
  /** The number before its first id. @default {0} */
  readonly idsFrom?: number;
}

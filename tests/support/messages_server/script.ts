import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import type { Delivery } from "../serving.ts";

/** A content block as a test scripts it; ids and signatures come from the server. */
export type ScriptedBlock =
  & (
    | { readonly kind: "thinking"; readonly text: string }
    | { readonly kind: "redacted" }
    | { readonly kind: "text"; readonly text: string }
    /** `input` is sent unchanged, whatever it holds; `{}` as one empty string, as the API does. */
    | { readonly kind: "tool_use"; readonly name: string; readonly input: string; readonly id?: string }
    /** A tool that the server runs: its use and its result. */
    | {
      readonly kind: "server_tool";
      readonly name: string;
      readonly input: JsonObject;
      readonly result: JsonValue;
    }
    /** Sent unchanged and whole in `content_block_start`. */
    | { readonly kind: "block"; readonly block: JsonObject }
  )
  /** Begun and streamed, but without `content_block_stop`. */
  & { readonly unfinished?: true };

/** `error` as this API says it. */
export interface MessagesError {
  readonly type: string;
  readonly message: string;
}

/** End of a stream (protocol §10). */
export type MessagesEnd =
  | {
    readonly kind: "stop";
    readonly reason: string;
    readonly details?: JsonObject;
  }
  /** The `error` event, and nothing after it. */
  | { readonly kind: "error"; readonly error: MessagesError }
  /** The body ends without `message_stop`. */
  | { readonly kind: "cut" }
  /** The connection breaks without `message_stop`. */
  | { readonly kind: "reset" }
  /** Nothing more comes, and the connection stays open. */
  | { readonly kind: "stall" };

/** Everything about a streamed answer beside its blocks. */
export interface MessagesStreamOptions {
  /** @default stop with `tool_use` where the client has a tool to run, with `end_turn` otherwise */
  readonly end?: MessagesEnd;
  readonly usage?: JsonObject;
  /**
   * Places of pings: one after the start of the message, or before every event.
   *
   * @default {"once"}
   */
  readonly pings?: "once" | "everywhere";
  readonly delivery?: Delivery;
  readonly headers?: Readonly<Record<string, string>>;
  /** `model` of the message; the requested one otherwise. */
  readonly model?: string;
  /** `message_start` comes a second time, with the same id. */
  readonly duplicateStart?: true;
  /** A first attempt, given up in its middle: these blocks, then `message_start` with a new id. */
  readonly abandoned?: readonly ScriptedBlock[];
}

/** Answer of the server to one request. */
export type ScriptedAnswer =
  | {
    readonly kind: "stream";
    readonly blocks: readonly ScriptedBlock[];
    readonly options: MessagesStreamOptions;
  }
  /** An error before any stream; the server adds the request id. */
  | {
    readonly kind: "error";
    readonly status: number;
    readonly error: MessagesError;
    readonly headers: Readonly<Record<string, string>>;
  }
  /** A 200 whose event stream is these bytes, whatever they are. */
  | { readonly kind: "bytes"; readonly chunks: readonly Uint8Array<ArrayBuffer>[] };

/** A streamed answer with these blocks. */
export function says(
  blocks: readonly ScriptedBlock[],
  options: MessagesStreamOptions = {},
): ScriptedAnswer {
  return { kind: "stream", blocks, options };
}

/** A thinking block. */
export function thinking(text: string): ScriptedBlock {
  return { kind: "thinking", text };
}

/** A redacted thinking block. */
export function redacted(): ScriptedBlock {
  return { kind: "redacted" };
}

/** A text block. */
export function text(words: string): ScriptedBlock {
  return { kind: "text", text: words };
}

/** A call of a tool of the client; a string is sent as the text of its input, whatever it holds. */
export function toolUse(
  name: string,
  input: JsonValue,
  options: { readonly id?: string } = {},
): ScriptedBlock {
  return {
    kind: "tool_use",
    name,
    input: typeof input === "string" ? input : JSON.stringify(input),
    ...options,
  };
}

/** A call of a tool that the server runs, with its result. */
export function serverTool(name: string, input: JsonObject, result: JsonValue): ScriptedBlock {
  return { kind: "server_tool", name, input, result };
}

/** Any other block. */
export function rawBlock(block: JsonObject): ScriptedBlock {
  return { kind: "block", block };
}

/** The block begun but never finished. */
export function unfinished(block: ScriptedBlock): ScriptedBlock {
  return { ...block, unfinished: true };
}

/** An end with this stop reason. */
export function stop(reason: string, details?: JsonObject): MessagesEnd {
  return { kind: "stop", reason, ...(details === undefined ? {} : { details }) };
}

/** An answer that refuses to answer: no block at all (protocol §10). */
export function declined(explanation: string): ScriptedAnswer {
  return says([], { end: stop("refusal", { type: "refusal", category: "cyber", explanation }) });
}

/** An error answer in the API's shape (protocol §11). */
export function apiError(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ScriptedAnswer {
  return { kind: "error", status, error: { type, message }, headers };
}

/** 400, in these words. */
export function invalidRequest(message: string): ScriptedAnswer {
  return apiError(400, "invalid_request_error", message);
}

/** 429; `retryAfter` as the header says it. */
export function rateLimited(options: { readonly retryAfter?: string } = {}): ScriptedAnswer {
  return apiError(
    429,
    "rate_limit_error",
    "This request would exceed your rate limit.",
    options.retryAfter === undefined ? {} : { "retry-after": options.retryAfter },
  );
}

/** 529. */
export function overloaded(): ScriptedAnswer {
  return apiError(529, "overloaded_error", "Overloaded");
}

/** 401. */
export function unauthorized(): ScriptedAnswer {
  return apiError(401, "authentication_error", "invalid x-api-key");
}

/** Answers of a scripted Messages API: blocks, ends of streams, and errors. */
import type { Json } from "../files.ts";
import type { BytesAnswer, HttpAnswer, StreamOptions } from "./server.ts";

export { unfinished } from "./responses_script.ts";

/** A content block as a test scripts it; ids and signatures come from the server. */
export type ScriptedBlock =
  & (
    | { readonly kind: "thinking"; readonly text: string }
    | { readonly kind: "redacted" }
    | { readonly kind: "text"; readonly text: string }
    /** `input` is sent unchanged, whatever it holds; `{}` as one empty string, as the API does. */
    | { readonly kind: "tool_use"; readonly name: string; readonly input: string; readonly id?: string }
    /** A tool that the server runs: its use and its result. */
    | { readonly kind: "server_tool"; readonly name: string; readonly input: Json; readonly result: Json }
    /** Sent unchanged and whole in `content_block_start`. */
    | { readonly kind: "block"; readonly block: Json }
  )
  /** Begun and streamed, but without `content_block_stop`. */
  & { readonly unfinished?: true };

/** End of a stream (protocol §10), by default `tool_use` after a call and `end_turn` otherwise. */
export type MessagesEnd =
  | { readonly kind: "cut" | "reset" | "stall" }
  | { readonly kind: "stop"; readonly reason: string; readonly details?: Json }
  /** The `error` event, and nothing after it. */
  | { readonly kind: "error"; readonly error: { readonly type: string; readonly message: string } };

/** Everything about a streamed answer beside its blocks. */
export interface MessagesStreamOptions extends StreamOptions<MessagesEnd> {
  /** A first attempt, given up in its middle: these blocks, then `message_start` with a new id. */
  readonly abandoned?: readonly ScriptedBlock[];
}

/** A streamed answer. */
export interface StreamedMessage {
  readonly kind: "stream";
  readonly blocks: readonly ScriptedBlock[];
  readonly options: MessagesStreamOptions;
}

/** Answer of the server to one request. */
export type ScriptedAnswer = StreamedMessage | HttpAnswer | BytesAnswer;

/** A streamed answer with these blocks. */
export const says = (
  blocks: readonly ScriptedBlock[],
  options: MessagesStreamOptions = {},
): ScriptedAnswer => ({
  kind: "stream",
  blocks,
  options,
});
/** A thinking block. */
export const thinking = (text: string): ScriptedBlock => ({ kind: "thinking", text });
/** A redacted thinking block. */
export const redacted = (): ScriptedBlock => ({ kind: "redacted" });
/** A text block. */
export const text = (text: string): ScriptedBlock => ({ kind: "text", text });
/** A call of a tool of the client; a string is sent as the text of its input, whatever it holds. */
export const toolUse = (
  name: string,
  input: Json,
  options: { readonly id?: string } = {},
): ScriptedBlock => ({
  kind: "tool_use",
  name,
  input: typeof input === "string" ? input : JSON.stringify(input),
  ...options,
});
/** A call of a tool that the server runs, with its result. */
export const serverTool = (name: string, input: Json, result: Json): ScriptedBlock => ({
  kind: "server_tool",
  name,
  input,
  result,
});
/** Any other block. */
export const rawBlock = (block: Json): ScriptedBlock => ({ kind: "block", block });
/** An end with this stop reason. */
export const stop = (reason: string): MessagesEnd => ({ kind: "stop", reason });

/** An error answer in the API's shape (protocol §11). */
export function apiError(status: number, type: string, message: string): HttpAnswer {
  const headers = { "content-type": "application/json" };
  return { kind: "http", status, headers, body: JSON.stringify({ type: "error", error: { type, message } }) };
}
/** 400, in these words. */
export const invalidRequest = (message: string): HttpAnswer =>
  apiError(400, "invalid_request_error", message);

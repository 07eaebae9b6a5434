/** Answers of a scripted Responses API: items, ends of streams, errors, refusals, and bodies that are no answer. */
import type { Json } from "../files.ts";
import type { BytesAnswer, HttpAnswer, StreamOptions } from "./server.ts";

/** Purpose of a message (protocol §2.5). */
type Phase = "commentary" | "final_answer";

/** An output item as a test scripts it; ids and blobs come from the server. */
export type ScriptedItem =
  & (
    | { readonly kind: "reasoning"; readonly texts: readonly string[] }
    | { readonly kind: "message"; readonly text: string; readonly phase?: Phase; readonly refusal?: true }
    | {
      readonly kind: "function_call";
      readonly name: string;
      readonly arguments: string;
      readonly callId?: string;
    }
    /** Sent unchanged, `added` and `done` without deltas. */
    | { readonly kind: "item"; readonly item: Json }
  )
  /** Begun and streamed, but without `output_item.done`, and not in the terminal event. */
  & { readonly unfinished?: true };

interface ScriptedError {
  readonly code: string | null;
  readonly message: string;
}

/** End of a stream (protocol §3.5, §3.6), by default `completed`. */
export type End =
  | { readonly kind: "completed" | "cut" | "reset" | "stall" }
  | { readonly kind: "incomplete"; readonly reason: string }
  /**
   * `error` is the flat event of the types alone; `error_then_failed` the nested one with `response.failed` after it, as
   * it was captured.
   */
  | { readonly kind: "failed" | "error" | "error_then_failed"; readonly error: ScriptedError };

/** A streamed answer. */
export interface StreamedResponse {
  readonly kind: "stream";
  readonly items: readonly ScriptedItem[];
  readonly options: StreamOptions<End>;
}

/** Answer of the server to one request. */
export type ScriptedResponse = StreamedResponse | HttpAnswer | BytesAnswer;

/** A streamed answer with these items. */
export const answer = (
  items: readonly ScriptedItem[],
  options: StreamOptions<End> = {},
): ScriptedResponse => ({
  kind: "stream",
  items,
  options,
});
/** A reasoning item, with one summary part for each text. */
export const reasoning = (...texts: readonly string[]): ScriptedItem => ({ kind: "reasoning", texts });
/** An assistant message. */
export const message = (
  text: string,
  options: { readonly phase?: Phase; readonly refusal?: true } = {},
): ScriptedItem => ({ kind: "message", text, ...options });
/** A function call; a string is sent as the arguments text, whatever it holds. */
export const functionCall = (
  name: string,
  args: Json,
  options: { readonly callId?: string } = {},
): ScriptedItem => ({
  kind: "function_call",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
  ...options,
});
/** Any other item. */
export const rawItem = (item: Json): ScriptedItem => ({ kind: "item", item });
/** The item or block begun but never finished. */
export const unfinished = <Item extends object>(item: Item): Item & { readonly unfinished: true } => ({
  ...item,
  unfinished: true,
});

/** An error answer in the API's shape (protocol §6.1). */
export function httpError(
  status: number,
  { message, type = "invalid_request_error", param = null, code = null }: {
    readonly message: string;
    readonly type?: string;
    readonly param?: string | null;
    readonly code?: string | null;
  },
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const all = { "content-type": "application/json", ...headers };
  return {
    kind: "http",
    status,
    headers: all,
    body: JSON.stringify({ error: { message, type, param, code } }),
  };
}

/** 429, worth waiting for; `retryAfter` as the header says it. */
export function rateLimited({ retryAfter }: { readonly retryAfter?: string } = {}): HttpAnswer {
  return httpError(
    429,
    { message: "Rate limit reached for requests.", type: "requests", code: "rate_limit_exceeded" },
    retryAfter === undefined ? {} : { "retry-after": retryAfter },
  );
}

/** 401. */
export const unauthorized = (): HttpAnswer =>
  httpError(401, { message: "Incorrect API key provided.", code: "invalid_api_key" });

/** Error of the API about a request, in the words of protocol §6.2. */
export interface RefusalText {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  /** @default {400} */
  readonly status?: number;
}

/** Places of the error: before any stream, or inside one after HTTP 200 (protocol §3.5). */
export const REFUSAL_SHAPES = ["http", "failed", "error", "error_then_failed"] as const;
/** One of {@linkcode REFUSAL_SHAPES}. */
export type RefusalShape = (typeof REFUSAL_SHAPES)[number];

/** A refusal as an answer. Inside a stream neither `param` nor a missing `code` is carried, only the words. */
export function refuse({ status = 400, ...error }: RefusalText, shape: RefusalShape): ScriptedResponse {
  if (shape === "http") return httpError(status, error);
  const { code = null, message } = error;
  return answer([], { end: { kind: shape, error: { code, message } } });
}

/** The ids of the reasoning items of a request. */
export function reasoningIds({ input }: { readonly input: readonly Json[] }): string[] {
  return input.filter(({ type }) => type === "reasoning").map(({ id }) => String(id));
}

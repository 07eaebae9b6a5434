import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import type { Delivery } from "../serving.ts";

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
    | { readonly kind: "item"; readonly item: JsonObject }
  )
  /** Begun and streamed, but without `output_item.done`, and not in the terminal event. */
  & { readonly unfinished?: true };

/** Purpose of a message (protocol §2.5). */
export type Phase = "commentary" | "final_answer";

/** `error` as events and response objects carry it. */
export interface ScriptedError {
  readonly code: string | null;
  readonly message: string;
}

/** End of a stream (protocol §3.5, §3.6). */
export type End =
  | { readonly kind: "completed" }
  | { readonly kind: "incomplete"; readonly reason: string }
  | { readonly kind: "failed"; readonly error: ScriptedError }
  /** The nested `error` event, then `response.failed`, as it was captured. */
  | { readonly kind: "error_then_failed"; readonly error: ScriptedError }
  /** The flat `error` event of the types, and nothing after it. */
  | { readonly kind: "error"; readonly error: ScriptedError }
  /** The body ends without a terminal event. */
  | { readonly kind: "cut" }
  /** The connection breaks without a terminal event. */
  | { readonly kind: "reset" }
  /** Nothing more comes, and the connection stays open. */
  | { readonly kind: "stall" };

/** Parts of a stream that a tolerant reader skips. */
export type Noise = "comments" | "keepalive" | "unknown_events";

/** Everything about a streamed answer beside its items. */
export interface StreamOptions {
  /** @default {{ kind: "completed" }} */
  readonly end?: End;
  readonly usage?: JsonObject;
  readonly noise?: readonly Noise[];
  readonly delivery?: Delivery;
  readonly headers?: Readonly<Record<string, string>>;
  /** The terminal event lists no items, as some servers do. */
  readonly withoutFinalOutput?: true;
  /** `model` of the response; the requested one otherwise. */
  readonly model?: string;
}

/** Answer of the server to one request. */
export type ScriptedResponse =
  | { readonly kind: "stream"; readonly items: readonly ScriptedItem[]; readonly options: StreamOptions }
  | {
    readonly kind: "http";
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }
  /** A 200 whose event stream is these bytes, whatever they are. */
  | { readonly kind: "bytes"; readonly chunks: readonly Uint8Array<ArrayBuffer>[] };

/** A streamed answer with these items. */
export function answer(items: readonly ScriptedItem[], options: StreamOptions = {}): ScriptedResponse {
  return { kind: "stream", items, options };
}

/** A reasoning item, with one summary part for each text. */
export function reasoning(...texts: readonly string[]): ScriptedItem {
  return { kind: "reasoning", texts };
}

/** An assistant message. */
export function message(
  text: string,
  options: { readonly phase?: Phase; readonly refusal?: true } = {},
): ScriptedItem {
  return { kind: "message", text, ...options };
}

/** A function call; a string is sent as the arguments text, whatever it holds. */
export function functionCall(
  name: string,
  args: JsonValue,
  options: { readonly callId?: string } = {},
): ScriptedItem {
  return {
    kind: "function_call",
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
    ...options,
  };
}

/** Any other item. */
export function rawItem(item: JsonObject): ScriptedItem {
  return { kind: "item", item };
}

/** The item begun but never finished. */
export function unfinished(item: ScriptedItem): ScriptedItem {
  return { ...item, unfinished: true };
}

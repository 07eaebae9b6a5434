/**
 * The meaning of stream events, in terms that all APIs share.
 *
 * Each API has one reader of its events. `run`, `show`, `lint`, `diff`, `import`, `serve` and faults go by what it
 * returns; none of them knows the name of an event.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";

/** The part of an item that an event is about, such as the second part of its summary; `index` counts from 0. */
export interface ItemPart {
  readonly name: "summary" | "content" | "command";
  readonly index: number;
}

/** Members of every event. */
interface EventBase {
  /** Its data, as received; `undefined` if that is no JSON object. */
  readonly data: JsonObject | undefined;
  /** The `type` of its data, otherwise its `event:` line; `undefined` if it has neither. */
  readonly type: string | undefined;
  /** Position of the item (of Messages: the content block) that it is about; absent if it names none. */
  readonly place?: number | undefined;
  readonly part?: ItemPart | undefined;
}

/** The response as a whole, before its end. */
export interface ResponseEvent extends EventBase {
  readonly kind: "response";
  /** The `response`, or the `message`. */
  readonly response: JsonObject;
  /** True for the first event of a response. */
  readonly begins: boolean;
  /** Items that the response holds already. */
  readonly items: readonly JsonValue[];
}

/** One item. */
export interface ItemEvent extends EventBase {
  readonly kind: "item";
  readonly item: JsonValue | undefined;
  /** False for the item as it begins. */
  readonly whole: boolean;
}

/** An item that came as deltas is whole. */
export interface ItemEndEvent extends EventBase {
  readonly kind: "item_end";
}

/** A piece of an item. */
export interface DeltaEvent extends EventBase {
  readonly kind: "delta";
  /** Kind of text that a person sees of it; `hidden` for arguments and everything else. */
  readonly channel: "text" | "reasoning" | "summary" | "hidden";
  /** The text, arguments or code that it adds; `null` for a piece of another kind. */
  readonly text: string | null;
  /** The `type` of the delta itself. */
  readonly form?: string | undefined;
}

/** The reason why a response stops, and its usage, before the last event. */
export interface StopEvent extends EventBase {
  readonly kind: "stop";
  readonly reason: string | undefined;
  readonly usage: JsonObject | undefined;
}

/** The last event of a response. */
export interface EndEvent extends EventBase {
  readonly kind: "end";
  /** The whole response, of APIs that repeat it. */
  readonly response: JsonObject | undefined;
  readonly items: readonly JsonValue[];
  /** True if the last event says that the response failed. */
  readonly failed: boolean;
  /** The error of a failed response. */
  readonly error?: JsonObject | undefined;
}

/** An error inside the stream. */
export interface ErrorEvent extends EventBase {
  readonly kind: "error";
  /** `{message, code, type, …}`, wherever the event has them. */
  readonly error: JsonObject;
}

/** The line `[DONE]`, a sign of life, or an event that adds nothing to the others or is not known. */
export interface OtherEvent extends EventBase {
  readonly kind: "done" | "keepalive" | "other";
}

/** The meaning of one event. */
export type StreamEvent =
  | ResponseEvent
  | ItemEvent
  | ItemEndEvent
  | DeltaEvent
  | StopEvent
  | EndEvent
  | ErrorEvent
  | OtherEvent;

/** All copies of one item that an answer holds, such as those of its first, its last and the terminal event (§4.1). */
export type ItemCopies = readonly JsonObject[];

/** Parts of an answer that a client sends back. */
export interface IssuedItems {
  /** True if the answer says that the request failed. */
  readonly failed: boolean;
  /** Items with their ids and blobs, in order of output. */
  readonly items: readonly ItemCopies[];
  /** Signed thinking, whole. */
  readonly thinking: readonly JsonObject[];
}

/** A part that the answer to a request should have, and that a recording may have lost. */
export type MissingPart = "events" | "usage" | "encrypted_content";

/** Reads the streams of one API, and the documents that take the place of a stream. */
export interface StreamReader {
  /** Reads the data of one event; `name` is its `event:` line. */
  readEvent(data: JsonObject, name?: string): StreamEvent;
  /** Reads an answer that is one document: the end of a response, or an error; `null` if it is neither. */
  readDocument(document: JsonObject): EndEvent | ErrorEvent | null;
  /** Collects what a client may send back of one answer. */
  issuedItems(events: Iterable<StreamEvent>): IssuedItems;
  /** Names the parts that the events of one answer lack; `request` is `undefined` if it is not known. */
  missingIn(events: readonly StreamEvent[], request: JsonValue | undefined): readonly MissingPart[];
  /** Text without a match holds no event that ends a stream. */
  readonly mayEnd: RegExp;
  /** True if a line `[DONE]` ends a stream. */
  readonly endsWithDone: boolean;
  /** True if clients go by the `event:` lines, so that an event without its line is lost. */
  readonly needsEventLines: boolean;
  /** True if a second response may begin within one stream, and replaces the first one. */
  readonly mayRestart: boolean;
}

/** An end of a stream that replaces the recorded one; `code` is `null` for the usual one. */
export type StreamEnding =
  & { readonly code: string | null }
  & (
    /** The `error` event: alone (`flat`), or nested and followed by `response.failed` (protocol §3.5). */
    | { readonly kind: "error"; readonly shape: "flat" | "nested" }
    /** `response.failed` alone. */
    | { readonly kind: "failed" }
    /** `code` is the reason. */
    | { readonly kind: "incomplete" }
  );

/** The stream around an ending that a fault writes. */
export interface EndingContext {
  /** Events before the ending. */
  readonly kept: readonly StreamEvent[];
  /** Every recorded event. */
  readonly all: readonly StreamEvent[];
  readonly requestId: string;
}

/** An error, before it has the shape of an API. */
export interface ApiError {
  readonly type: string;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Writes what an API sends when something is wrong, for answers that are broken on purpose. */
export interface FaultWriter {
  /** Data of the events that end the stream; `null` if that ending is not known of this API. */
  ending(ending: StreamEnding, context: EndingContext): readonly JsonObject[] | null;
  /** An event of an unknown type; `null` if a stream of this API has no place for one. */
  readonly unknownEvent: JsonObject | null;
  /** A sign of life after `event`; `null` if the API sends none. */
  keepalive(event: JsonObject | undefined): JsonObject | null;
  /** Ids of the response and its items that an event names, and that a server may change from event to event. */
  idsIn(event: JsonObject): readonly string[];
  /** The error of an answer with this status: 429, 500, 503 or 529. */
  errorOf(status: number): ApiError;
}

const DONE = "[DONE]";

/**
 * Reads one event of a stream. Data that is no JSON object has no meaning, but for `[DONE]`; `reader` is `null` for an
 * API that is not known.
 */
export function meaningOf(
  reader: StreamReader | null,
  { text, json, name }: {
    readonly text: string;
    /** The same text, parsed. */
    readonly json: JsonValue | undefined;
    /** Its `event:` line. */
    readonly name: string | undefined;
  },
): StreamEvent {
  if (!isJsonObject(json)) {
    const isDone = reader?.endsWithDone === true && text.trim() === DONE;
    return { kind: isDone ? "done" : "other", type: name, data: undefined };
  }
  return reader?.readEvent(json, name) ??
    { kind: "other", type: typeof json.type === "string" ? json.type : name, data: json };
}

/** True for an event after which a stream of its API is complete. */
export function isTerminal({ kind }: StreamEvent): boolean {
  return kind === "end" || kind === "error" || kind === "done";
}

/** True for events of which a stream has as many as the wording of the answer wants. */
export function isRepeatable({ kind }: StreamEvent): boolean {
  return kind === "delta" || kind === "stop";
}

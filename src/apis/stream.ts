/**
 * The meaning of stream events, in terms that all APIs share.
 *
 * Each API has one reader of its events. `run`, `show`, `lint`, `diff`, `import`, `serve` and faults use its results
 * and do not know the names of events.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, objectMember } from "../domain/json.ts";

/** The part of an item that an event is about, such as the second part of its summary; `index` counts from 0. */
export interface ItemPart {
  readonly name: "summary" | "content" | "command" | "call";
  readonly index: number;
}

interface EventBase {
  /** Its data, as received; `undefined` if that is no JSON object. */
  readonly data: JsonObject | undefined;
  /** The `type` of its data, otherwise its `event:` line; `undefined` if it has neither. */
  readonly type: string | undefined;
  /** Name for reports of an event whose API has no types, such as `delta.content`. */
  readonly name?: string | undefined;
  /** The response as far as the event describes it: its id, its model. */
  readonly response?: JsonObject | undefined;
  /** Earlier pieces in the same event: a chunk of Chat Completions may bring text, calls and the reason to stop. */
  readonly carried?: readonly (DeltaEvent | StopEvent)[] | undefined;
  /** Position of the item (of Messages: the content block) that it is about; absent if the event has no position. */
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

export interface ItemEvent extends EventBase {
  readonly kind: "item";
  readonly item: JsonValue | undefined;
  /** False for the item as it begins. */
  readonly whole: boolean;
}

/** The end of an item that came as deltas. */
export interface ItemEndEvent extends EventBase {
  readonly kind: "item_end";
}

export interface DeltaEvent extends EventBase {
  readonly kind: "delta";
  /** Kind of visible text; `hidden` for arguments and all other pieces. */
  readonly channel: "text" | "reasoning" | "summary" | "hidden";
  /** The text, arguments or code that it adds; `null` for a piece of another kind. */
  readonly text: string | null;
  /** The `type` of the delta itself, or name and id of the call that it begins. */
  readonly form?: string | undefined;
}

/** The reason why a response stops, and its usage, before the last event. */
export interface StopEvent extends EventBase {
  readonly kind: "stop";
  readonly reason: string | undefined;
  readonly usage: JsonObject | undefined;
}

export interface EndEvent extends EventBase {
  readonly kind: "end";
  /** The whole response, if the API repeats it. */
  readonly response: JsonObject | undefined;
  readonly items: readonly JsonValue[];
  readonly failed: boolean;
  readonly error?: JsonObject | undefined;
}

export interface ErrorEvent extends EventBase {
  readonly kind: "error";
  /** `{message, code, type, …}`, from any place in the event. */
  readonly error: JsonObject;
}

/** The line `[DONE]`, a sign of life, or an event that is unknown or adds nothing. */
interface OtherEvent extends EventBase {
  readonly kind: "done" | "keepalive" | "other";
}

export type StreamEvent =
  | ResponseEvent
  | ItemEvent
  | ItemEndEvent
  | DeltaEvent
  | StopEvent
  | EndEvent
  | ErrorEvent
  | OtherEvent;

/** All copies of one item in an answer: in its first, its last and the terminal event (§4.1). */
type ItemCopies = readonly JsonObject[];

/** Parts of an answer that a client sends back. */
export interface IssuedItems {
  readonly failed: boolean;
  /** Items with their ids and blobs, in order of output. */
  readonly items: readonly ItemCopies[];
  /** Signed thinking, whole. */
  readonly thinking: readonly JsonObject[];
  /** Every content block of a message, whole; absent for APIs whose items have ids. */
  readonly blocks?: readonly JsonObject[];
}

/** A part that an answer should have and a recording may lack. */
export type MissingPart = "events" | "usage" | "encrypted_content";

export interface EndWatch {
  take(event: StreamEvent): void;
  /** True if no event is missing at the end of the stream. */
  readonly ended: boolean;
  /** True if the stream has ended without the usage that was requested. */
  readonly lacksUsage: boolean;
}

/** Reads the streams of one API, and the documents that take the place of a stream. */
export interface StreamReader {
  /** Reads the data of one event; `name` is its `event:` line. */
  readEvent(data: JsonObject, name?: string): StreamEvent;
  /** Reads an answer that is one document: the end of a response, or an error; `null` if it is neither. */
  readDocument(document: JsonObject): EndEvent | ErrorEvent | null;
  /** Collects the parts of one answer that a client may send back. */
  issuedItems(events: Iterable<StreamEvent>): IssuedItems;
  /** True for the `event:` line of events that {@linkcode issuedItems} ignores: their JSON need not be parsed. */
  issuesNothing?(name: string): boolean;
  /** Names the parts that the events of one answer lack; `request` is `undefined` if it is not known. */
  missingIn(events: readonly StreamEvent[], request: JsonValue | undefined): readonly MissingPart[];
  /** True for an event without which its stream has no end. */
  isTerminal(event: StreamEvent): boolean;
  /** Begins to watch a stream that answers `request`; `undefined` if the request is not known. */
  watchEnd(request: JsonValue | undefined): EndWatch;
  /** Matches every text that holds an event that {@linkcode watchEnd} has to see. */
  readonly mayEnd: RegExp;
  /** True if a line `[DONE]` ends a stream. */
  readonly endsWithDone: boolean;
  /** True if clients read the `event:` lines, so that an event without its line is lost. */
  readonly needsEventLines?: true;
  /** True if a second response may begin within one stream, and replaces the first one. */
  readonly mayRestart?: true;
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

/** Reason for which an API refuses the content of a request with 400. */
export type RefusedContent = "context length" | "content policy";

/** Writes the errors and noise of an API, for answers that are broken on purpose. */
export interface FaultWriter {
  /** Data of the events that end the stream; `null` if this API has no such ending. */
  ending(ending: StreamEnding, context: EndingContext): readonly JsonObject[] | null;
  /** An event of an unknown type; `null` if streams of this API cannot hold such an event. */
  readonly unknownEvent: JsonObject | null;
  /** A sign of life after `event`; `null` if the API sends none. */
  keepalive(event: JsonObject | undefined): JsonObject | null;
  /** True if a recorded `[DONE]` follows every ending. */
  readonly keepsDone?: true;
  /** Ids of the response and its items that an event names, and that a server may change from event to event. */
  idsIn?(event: JsonObject): readonly string[];
  /** Returns the visible texts of an answer that is one document. */
  textsIn(document: JsonObject): Readonly<Record<"text" | "reasoning", readonly string[]>>;
  /** Returns an answer that is one document with another ending; `null` if this API has no such ending. */
  endedDocument(ending: StreamEnding, document: JsonObject): JsonObject | null;
  /** Returns the answer of a whole stream as the API sends it without `stream`; `null` if its end is missing. */
  documentOf(events: readonly StreamEvent[]): JsonObject | null;
  /** Names of faults that are not common to all APIs: the statuses and events of this one. */
  readonly own: readonly string[];
  /** The error of an answer with this status, from 400 to 599; `about` is the reason of a 400. @default {no reason} */
  errorOf(status: number, about?: RefusedContent | null): ApiError;
}

export interface FaultRefusal {
  readonly status: number;
  readonly error: ApiError;
  /** Code with which a WebSocket closes after it; `null` if it stays open. */
  readonly close: number | null;
}

const DONE = "[DONE]";

/**
 * Reads one event of a stream. Data that is no JSON object has no meaning, except `[DONE]`; `reader` is `null` for an
 * unknown API.
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

/** Reads an error, which may be nested or flat. */
export function errorEvent(data: JsonObject, type: string | undefined): ErrorEvent {
  return { kind: "error", data, type, error: objectMember(data, "error") ?? data };
}

/** True for an event that ends the streams of an API whose last event says so. */
export function isLastEvent({ kind }: StreamEvent): boolean {
  return kind === "end" || kind === "error" || kind === "done";
}

/** Watches for one event that ends a stream. */
export class LastEventWatch implements EndWatch {
  readonly lacksUsage = false;
  ended = false;

  take(event: StreamEvent): void {
    this.ended ||= isLastEvent(event);
  }
}

/** Every meaning of one event, in its order. */
export function meaningsIn(event: StreamEvent): readonly StreamEvent[] {
  return event.carried === undefined ? [event] : [...event.carried, event];
}

/** True for events whose number depends on the text of the answer. */
export function isRepeatable({ kind }: StreamEvent): boolean {
  return kind === "delta" || kind === "stop";
}

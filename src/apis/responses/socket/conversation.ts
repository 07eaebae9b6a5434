/**
 * The requests of a run over a WebSocket: the messages for their HTTP bodies, and which of them continue the response
 * before (protocol §8.5).
 */
import type { Item } from "../../../domain/event.ts";
import type { ApiFailure } from "../../../domain/errors.ts";
import { parseExact } from "../../../domain/exact_json.ts";
import { callIdOf, isItem, itemKind } from "../../../domain/item.ts";
import { isJsonObject, type JsonObject, plainText, stringMember } from "../../../domain/json.ts";
import { classifyAnswer, classifyErrorEvent, isServerFault } from "../../failure.ts";
import { encodeEntry } from "../items.ts";
import { readResponsesEvent, statusOf } from "../stream.ts";
import {
  type Continuation,
  createMessage,
  type HttpError,
  readSocketEvent,
  type ServerMessage,
  sseEvent,
} from "./messages.ts";

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

/** A response that the next request may continue. */
interface Continuable {
  readonly id: string;
  /** Body of its request. */
  readonly body: string;
  /** Number of items in the input of its request. */
  readonly sent: number;
  readonly output: readonly Item[];
}

/** End of a body whose last member is `input`. */
const BODY_END = "]}";

/** Requests of one client on one connection, each after the answer to the one before, on the default lane. */
export class SocketConversation {
  #last: Continuable | null = null;
  #open: { readonly body: string; readonly sent: number } | null = null;
  #items = new Map<number, Item>();
  /** The error that ended the request before, until the open request has a message of its own. */
  #errorBefore: JsonObject | null = null;
  #error: JsonObject | null = null;

  /**
   * Returns the message for the request with this HTTP body. It continues the response to the request before, with only
   * the items that the server does not have, if that response completed and the body extends it.
   */
  open(body: string): { readonly text: string; readonly continues: boolean } {
    const json = parseExact(body) as JsonObject;
    const continuation = this.#last === null ? null : continuationOf(this.#last, body);
    this.#last = null;
    this.#items = new Map();
    this.#errorBefore = this.#error;
    this.#error = null;
    this.#open = { body, sent: Array.isArray(json.input) ? json.input.length : 0 };
    return { text: createMessage(json, { continuation }), continues: continuation !== null };
  }

  /**
   * Reads a message of the server, for the request that was opened last; `null` for one that belongs to the request
   * before, which the server had refused.
   */
  take(text: string): ConversationStep | null {
    const message = readSocketEvent(text);
    const { json, ends, refusal } = message;
    const event = json === undefined ? null : readResponsesEvent(json);
    // `response.failed` may follow an error, with the same error (protocol §3.5).
    const before = this.#errorBefore;
    this.#errorBefore = null;
    if (event?.kind === "end" && event.failed && isSameError(event.error, before)) return null;
    if (event?.kind === "item" && event.whole && isItem(event.item)) {
      this.#items.set(event.place ?? this.#items.size, event.item);
    }
    if (event?.kind === "end") this.#keep(event.type ?? "", event.response ?? {}, event.items);
    const error = event?.kind === "error" ? event.error : null;
    this.#error = error;
    const failed = error !== null || event?.kind === "end" && event.failed;
    return {
      event: sseEvent(message),
      ends,
      isError: error !== null,
      refusal,
      headers: error === null ? {} : headersIn(error),
      isPrelude: event?.kind === "response" || event?.kind === "keepalive" || event?.kind === "other",
      loss: refusal === null && !failed ? null : lossIn(failureOf(message)),
    };
  }

  /** Makes the next request hold its whole input: the connection is another one. */
  forget(): void {
    this.#last = null;
    this.#open = null;
    this.#error = null;
  }

  /** A response that did not complete is not continued. */
  #keep(type: string, response: JsonObject, listed: readonly unknown[]): void {
    const id = stringMember(response, "id");
    if (this.#open === null || id === undefined) return;
    if (statusOf(type, stringMember(response, "status")) !== "completed") return;
    const done = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const output = listed.length > done.length ? listed.filter(isItem) : done;
    this.#last = { id, ...this.#open, output };
    this.#open = null;
  }
}

/**
 * Returns how `body` continues a response: it has the same fields, the same input, the output as it is sent back, and
 * something after it. `null` for any other body.
 */
function continuationOf({ id, body: before, sent, output }: Continuable, body: string): Continuation | null {
  if (!before.endsWith(BODY_END)) return null;
  let at = before.length - BODY_END.length;
  if (!body.startsWith(before.slice(0, at))) return null;
  for (const [index, item] of output.entries()) {
    const separator = sent + index === 0 ? "" : ",";
    const piece = piecesOf(item).map((text) => `${separator}${text}`)
      .find((text) => body.startsWith(text, at));
    if (piece === undefined) return null;
    at += piece.length;
  }
  return body[at] === "," ? { responseId: id, from: sent + output.length } : null;
}

/** The texts of an item of an answer in an input: a message is sent with its id or without it. */
function piecesOf(item: Item): string[] {
  switch (itemKind(item)) {
    case "reasoning":
      return [encodeEntry({ kind: "reasoning", item })];
    case "assistant_message":
      return [true, false].map((keepId) => encodeEntry({ kind: "assistant_message", item, keepId }));
    case "tool_call":
      return [encodeEntry({ kind: "tool_call", item, callId: callIdOf(item) })];
    case "provider_item":
      return [encodeEntry({ kind: "provider_item", item })];
  }
}

function isSameError(error: JsonObject | undefined, before: JsonObject | null): boolean {
  return error !== undefined && before !== null && error.code === before.code &&
    error.message === before.message;
}

/** The failure that an error message or a failed response reports. */
function failureOf({ refusal, json = {} }: ServerMessage): ApiFailure {
  return refusal === null
    ? classifyErrorEvent(json)
    : classifyAnswer(refusal.status, new Headers(), refusal.body);
}

/**
 * Returns what the server no longer has, by its error: the connection, or the response that a request continues. Any
 * refusal may be about that response, which only the server can see; an error without a known code may be a refusal.
 */
function lossIn(failure: ApiFailure): ConversationStep["loss"] {
  if (failure.providerCode === "websocket_connection_limit_reached") return "connection";
  const mayBeRefusal = failure.code === "provider_failed" && failure.status === null &&
    !isServerFault(failure);
  return failure.code === "request_refused" || mayBeRefusal ? "response" : null;
}

/** Names and values that HTTP can carry. */
function headersIn({ headers }: JsonObject): Record<string, string> {
  if (!isJsonObject(headers)) return {};
  const texts = Object.entries(headers).map(([name, value]) =>
    [name.toLowerCase(), plainText(value)] as const
  );
  return Object.fromEntries(
    texts.filter(([name, value]) => /^[a-z0-9-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)),
  );
}

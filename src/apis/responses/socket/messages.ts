/** Text messages of the Responses WebSocket, and their HTTP equivalents (protocol §8.5). */
import { exactValue, objectOf, withMembers } from "../../../domain/exact_json.ts";
import { isTooDeep } from "../../../domain/json_depth.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  numberMember,
  objectMember,
  parsedObject,
  stringMember,
} from "../../../domain/json.ts";
import { isLastEvent } from "../../stream.ts";
import { readResponsesEvent } from "../stream.ts";

export type ClientMessage = CreateMessage | OtherMessage;

export interface CreateMessage {
  readonly kind: "create";
  readonly type: string;
  /** Its `stream_id`; `null` on the default lane. An id that is no string becomes "", which no lane may have. */
  readonly lane: string | null;
  readonly previous: string | null;
  /** True with `generate: false`: the response has no output, and later messages may continue it. */
  readonly warmUp: boolean;
  /** Body of the HTTP equivalent; with `previous_response_id`, its input is only what the message holds. */
  readonly body: JsonObject;
}

/** A message of another type, or one that is no JSON object. */
interface OtherMessage {
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
  readonly body: string;
}

/** Refers to an earlier response of the connection. */
export interface Continuation {
  readonly responseId: string;
  /** Index of the first item of the input that the earlier request and its response do not hold. */
  readonly from: number;
}

const CREATE = "response.create";
/** Members of an HTTP body that a message does not have. */
const HTTP_ONLY = new Set(["stream", "background"]);

export function readMessage(text: string): ClientMessage {
  const json = objectIn(text);
  const type = stringMember(json ?? {}, "type") ?? null;
  const lane = laneOf(json);
  if (json === undefined || type !== CREATE) return { kind: "other", type, lane };
  const kept = Object.entries(json).filter(([name, value]) =>
    name !== "type" && name !== "stream_id" && !(name === "generate" && value === true)
  );
  return {
    kind: "create",
    type,
    lane,
    previous: stringMember(json, "previous_response_id") ?? null,
    warmUp: json.generate === false,
    body: withMembers(objectOf(kept), { stream: true }),
  };
}

/**
 * Writes the message that asks for what an HTTP body asks for, without `stream` and `background`.
 *
 * @param body As `parseExact` returns it.
 */
export function createMessage(
  body: JsonObject,
  { continuation = null, lane = null }: {
    readonly continuation?: Continuation | null;
    readonly lane?: string | null;
  } = {},
): string {
  const members = Object.entries(body).filter(([name]) => !HTTP_ONLY.has(name)).flatMap(
    ([name, value]): [string, JsonValue | undefined][] =>
      name === "input" && continuation !== null && Array.isArray(value)
        ? [["previous_response_id", continuation.responseId], [name, value.slice(continuation.from)]]
        : [[name, value]],
  );
  const named = lane === null ? [] : [["stream_id", lane] as const];
  return JSON.stringify(objectOf([["type", CREATE], ...named, ...members]));
}

export function readSocketEvent(text: string): ServerMessage {
  const json = objectIn(text);
  const event = json === undefined ? null : readResponsesEvent(json);
  return {
    text,
    json,
    type: event?.type ?? null,
    lane: laneOf(json),
    ends: event !== null && isLastEvent(event),
    refusal: event?.kind === "error" ? refusalIn(event.data ?? {}) : null,
  };
}

/** Returns the HTTP answer that an error message, nested or flat, is equivalent to; `null` without a status. */
function refusalIn(json: JsonObject): HttpError | null {
  const status = numberMember(json, "status");
  if (status === undefined || !Number.isInteger(status) || status < 400 || status > 599) return null;
  const flat = Object.entries(json).filter(([name]) => !ENVELOPE.has(name));
  return { status, body: JSON.stringify({ error: objectMember(json, "error") ?? objectOf(flat) }) };
}

/** Members of a flat error message that its error does not have. */
const ENVELOPE = new Set(["type", "status", "stream_id", "sequence_number"]);

/** Writes the error message for an HTTP answer with this status and body. */
export function errorMessage({ status, body }: HttpError, lane: string | null): string {
  const { error } = objectIn(body) ?? {};
  return JSON.stringify({
    type: "error",
    status,
    error: isJsonObject(error) ? error : {
      type: status < 500 ? "invalid_request_error" : "server_error",
      code: null,
      message: typeof error === "string" ? error : body,
      param: null,
    },
    ...(lane === null ? {} : { stream_id: lane }),
  });
}

/** Writes a message as an event of a stream: its text is the data, without the `stream_id` of a named lane. */
export function sseEvent({ text, type, lane }: ServerMessage): string {
  const data = (lane === null ? text : inLane(text, null)).split(/\r\n|\r|\n/);
  const name = type === null || /[\r\n]/.test(type) ? "" : `event: ${type}\n`;
  return `${name}${data.map((line) => `data: ${line}\n`).join("")}\n`;
}

/** Returns the message for the data of an event; `null` if the data is no JSON object, such as `[DONE]`. */
export function eventMessage(data: string, lane: string | null): string | null {
  return parsedObject(data) === null ? null : inLane(data, lane);
}

/** Returns a message with the `stream_id` of a lane; its text is unchanged if it is in that lane. */
export function inLane(text: string, lane: string | null): string {
  const json = objectIn(text);
  if (json === undefined || laneOf(json) === lane) return text;
  const kept = Object.entries(json).filter(([name]) => name !== "stream_id");
  return JSON.stringify(objectOf(lane === null ? kept : [...kept, ["stream_id", lane]]));
}

/** The refusal of a `previous_response_id` that the connection does not know. */
export function previousNotFound(responseId: string): HttpError {
  const message = `Previous response with id '${responseId}' not found.`;
  return invalidRequest("previous_response_not_found", message, "previous_response_id");
}

export function invalidRequest(code: string, message: string, param: string): HttpError {
  const error = { type: "invalid_request_error", code, message, param };
  return { status: 400, body: JSON.stringify({ error }) };
}

/** Writes the messages of a response without output, such as a warm-up, which later messages may continue. */
export function emptyResponse({ body, lane, previous }: CreateMessage, id: string): readonly string[] {
  const response = {
    id,
    object: "response",
    created_at: 0,
    model: body.model ?? null,
    output: [],
    error: null,
    incomplete_details: null,
    previous_response_id: previous,
  };
  const usage = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  };
  const named = lane === null ? {} : { stream_id: lane };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", usage: null } },
    { type: "response.completed", response: { ...response, status: "completed", usage } },
  ].map((event, sequence_number) => JSON.stringify({ ...event, sequence_number, ...named }));
}

function laneOf(json: JsonObject | undefined): string | null {
  if (json === undefined || !Object.hasOwn(json, "stream_id") || json.stream_id === null) return null;
  return stringMember(json, "stream_id") ?? "";
}

/** A text that nests too deep to write again is no object, as in an HTTP body. */
function objectIn(text: string): JsonObject | undefined {
  const json = isTooDeep(text) ? null : parsedObject(text);
  return json === null ? undefined : exactValue(json, text);
}

/**
 * Faulty answers of the Responses API: ends of streams, noise and error bodies
 * (protocol §3.1, §3.5, §3.6, §6.1, §6.3).
 */
import { isJsonObject, type JsonObject, objectMember, objectsIn } from "../../domain/json.ts";
import type {
  ApiError,
  EndingContext,
  FaultRefusal,
  FaultWriter,
  RefusedContent,
  StreamEnding,
  StreamEvent,
} from "../stream.ts";
import { readResponsesEvent } from "./stream.ts";

export const responsesFaults: FaultWriter = {
  ending,
  unknownEvent: { type: "response.novelty.delta", delta: "?" },
  keepalive(event) {
    const number = event?.sequence_number;
    return { type: "keepalive", ...(number === undefined ? {} : { sequence_number: number }) };
  },
  idsIn,
  textsIn: ({ output }) => {
    const items = objectsIn(output);
    const content = (wanted: boolean) =>
      items.filter(({ type }) => (type === "reasoning") === wanted).flatMap(({ content, summary }) =>
        [...objectsIn(content), ...objectsIn(summary)].map(({ text, refusal }) => text ?? refusal)
      ).filter((text) => typeof text === "string");
    return { text: content(false), reasoning: content(true) };
  },
  endedDocument: ({ kind, code }, document) =>
    kind === "error" ? null : { ...document, ...kind === "failed" ? failedAs(code) : incompleteAs(code) },
  documentOf(events) {
    const end = events.findLast(({ kind }) => kind === "end");
    if (end?.response === undefined) return null;
    // A terminal event may omit its output (protocol §8.5).
    const output = objectsIn(end.response.output).length > 0
      ? end.response.output
      : events.flatMap((event) => event.kind === "item" && event.whole ? [event.item ?? null] : []);
    return { ...end.response, output };
  },
  own: ["failed"],
  errorOf,
};

const errorAs = (code: string | null) => ({
  code: code ?? "server_error",
  message: "The server had an error.",
});
const failedAs = (code: string | null) => ({ status: "failed", usage: null, error: errorAs(code) });
const incompleteAs = (code: string | null) => ({
  status: "incomplete",
  incomplete_details: { reason: code ?? "max_output_tokens" },
});

function ending(end: StreamEnding, { kept, all }: EndingContext): readonly JsonObject[] {
  const error = errorAs(end.code);
  const ended = (response: JsonObject) => {
    const base = newestResponse(kept) ?? newestResponse(all) ?? { id: "resp_fault", object: "response" };
    return { ...base, ...response };
  };
  const failed = { type: "response.failed", response: ended(failedAs(end.code)) };
  switch (end.kind) {
    case "failed":
      return numbered([failed], kept);
    case "error": {
      if (end.shape === "flat") return numbered([{ type: "error", ...error, param: null }], kept);
      const nested = { type: "error", error: { type: error.code, ...error, param: null } };
      return numbered([nested, failed], kept);
    }
    case "incomplete": {
      const response = ended({
        ...incompleteAs(end.code),
        output: kept.flatMap((event) => event.kind === "item" && event.whole ? [event.item ?? null] : []),
        usage: newestResponse(all)?.usage ?? null,
      });
      return numbered([{ type: "response.incomplete", response }], kept);
    }
  }
}

function newestResponse(events: readonly StreamEvent[]): JsonObject | undefined {
  const newest = events.findLast(({ data }) => isJsonObject(data?.response));
  return objectMember(newest?.data ?? {}, "response");
}

/** Continues the numbers of earlier events, if they have numbers. */
function numbered(payloads: readonly JsonObject[], kept: readonly StreamEvent[]): readonly JsonObject[] {
  const last = kept.at(-1)?.data?.sequence_number;
  const first = kept.length === 0 ? 0 : typeof last === "number" ? last + 1 : null;
  if (first === null) return payloads;
  return payloads.map((payload, index) => ({ ...payload, sequence_number: first + index }));
}

function idsIn(data: JsonObject): readonly string[] {
  const event = readResponsesEvent(data);
  const response = objectMember(data, "response");
  const items = event.kind === "response" || event.kind === "end"
    ? event.items
    : event.kind === "item"
    ? [event.item]
    : [];
  const ids = [
    data.item_id,
    ...[response, ...items].map((holder) => isJsonObject(holder) ? holder.id : undefined),
  ];
  return [...new Set(ids.filter((id) => typeof id === "string"))];
}

const INVALID: ApiError = {
  type: "invalid_request_error",
  code: null,
  message: "The request is invalid.",
  param: null,
};

const BROKEN: ApiError = {
  type: "server_error",
  code: "server_error",
  message: "The server had an error while processing your request.",
  param: null,
};

const OVERLOADED: ApiError = {
  type: "service_unavailable_error",
  code: "server_is_overloaded",
  message: "The server is overloaded or not ready yet.",
  param: null,
};

/** Errors of a status, as far as they differ from those of all 4xx or 5xx (protocol §6.3, §15.6). */
const ERRORS: Readonly<Record<number, Partial<ApiError>>> = {
  401: { code: "invalid_api_key", message: "Incorrect API key provided." },
  403: { code: "unsupported_country", message: "The country is not supported." },
  404: {
    code: "model_not_found",
    message: "The model does not exist or you do not have access to it.",
  },
  408: { message: "The request timed out." },
  413: { message: "The request is too large." },
  429: { type: "requests", code: "rate_limit_exceeded", message: "Rate limit reached for requests." },
  503: OVERLOADED,
  504: { message: "The server did not answer in time." },
  529: OVERLOADED,
};

/** Returns the errors about the content of a request, whose history is in the member `history` (protocol §6.2, §15.6). */
export function contentErrors(history: string): Readonly<Record<RefusedContent, ApiError>> {
  return {
    "context length": {
      ...INVALID,
      code: "context_length_exceeded",
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 128061 tokens.",
      param: history,
    },
    "content policy": {
      ...INVALID,
      code: "content_filter",
      message: "The response was filtered due to the prompt triggering the content management policy.",
      param: "prompt",
    },
  };
}

const CONTENT_ERRORS = contentErrors("input");

/** The error of an answer, also for Chat Completions, whose errors about content differ. */
export function errorOf(
  status: number,
  about: RefusedContent | null = null,
  content: typeof CONTENT_ERRORS = CONTENT_ERRORS,
): ApiError {
  return about === null ? { ...status < 500 ? INVALID : BROKEN, ...ERRORS[status] } : content[about];
}

const REFUSALS: Readonly<Record<string, Pick<ApiError, "message" | "param">>> = {
  websocket_connection_limit_reached: {
    message:
      "Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.",
    param: null,
  },
  websocket_stream_limit_reached: {
    message: "Responses websocket stream limit reached.",
    param: "stream_id",
  },
  previous_response_not_found: { message: "Previous response not found.", param: "previous_response_id" },
};

/** The refusal with a code of WebSockets (protocol §8.5), also for APIs without them. */
export function socketRefusalOf(code: string): FaultRefusal {
  const { message, param } = REFUSALS[code] ?? { message: code, param: null };
  return {
    status: 400,
    error: { type: "invalid_request_error", code, message, param },
    close: code === "websocket_connection_limit_reached" ? 1000 : null,
  };
}

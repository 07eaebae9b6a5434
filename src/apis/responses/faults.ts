/**
 * Faulty answers of the Responses API: ends of streams, noise and error bodies
 * (protocol §3.1, §3.5, §3.6, §6.1, §6.3).
 */
import { isJsonObject, type JsonObject, objectMember } from "../../domain/json.ts";
import type {
  ApiError,
  EndingContext,
  FaultRefusal,
  FaultWriter,
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
  keepsDone: false,
  idsIn,
  errorOf,
  refusalOf,
};

function ending(end: StreamEnding, { kept, all }: EndingContext): readonly JsonObject[] {
  const error = { code: end.code ?? "server_error", message: "The server had an error." };
  const ended = (response: JsonObject) => {
    const base = newestResponse(kept) ?? newestResponse(all) ?? { id: "resp_fault", object: "response" };
    return { ...base, ...response };
  };
  const failed = { type: "response.failed", response: ended({ status: "failed", usage: null, error }) };
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
        status: "incomplete",
        incomplete_details: { reason: end.code ?? "max_output_tokens" },
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

const OVERLOADED = {
  type: "service_unavailable_error",
  code: "server_is_overloaded",
  message: "The server is overloaded or not ready yet.",
};

const ERRORS: Readonly<Record<number, typeof OVERLOADED>> = {
  429: { type: "requests", code: "rate_limit_exceeded", message: "Rate limit reached for requests." },
  500: {
    type: "server_error",
    code: "server_error",
    message: "The server had an error while processing your request.",
  },
  503: OVERLOADED,
  529: OVERLOADED,
};

/** The error of an answer, also for Chat Completions. */
export function errorOf(status: number): ApiError {
  return { ...ERRORS[status] ?? OVERLOADED, param: null };
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
export function refusalOf(code: string): FaultRefusal {
  const { message, param } = REFUSALS[code] ?? { message: code, param: null };
  return {
    status: 400,
    error: { type: "invalid_request_error", code, message, param },
    close: code === "websocket_connection_limit_reached" ? 1000 : null,
  };
}

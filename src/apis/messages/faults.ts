/** Faulty answers of the Messages API: ends of streams, noise and error bodies (protocol §10, §11). */
import { type JsonObject, objectMember, objectsIn } from "../../domain/json.ts";
import { messagesStream } from "./stream.ts";
import type { EndingContext, FaultWriter, RefusedContent, StreamEnding, StreamEvent } from "../stream.ts";

export const messagesFaults: FaultWriter = {
  ending,
  unknownEvent: { type: "novelty", delta: "?" },
  keepalive: () => ({ type: "ping" }),
  textsIn: ({ content }) => {
    const member = (name: string) =>
      objectsIn(content).map((block) => block[name]).filter((text) => typeof text === "string");
    return { text: member("text"), reasoning: member("thinking") };
  },
  endedDocument: ({ kind, code }, document) =>
    kind === "incomplete" ? { ...document, stop_reason: stopReason(code), stop_sequence: null } : null,
  documentOf(events) {
    const message = events.find(({ kind }) => kind === "response")?.response;
    const stop = events.findLast((event) => event.kind === "stop");
    if (message === undefined || stop === undefined || !events.some(({ kind }) => kind === "end")) {
      return null;
    }
    return {
      ...message,
      content: messagesStream.issuedItems(events).blocks ?? [],
      ...objectMember(stop.data ?? {}, "delta"),
      usage: { ...objectMember(message, "usage"), ...stop.usage },
    };
  },
  own: ["529"],
  errorOf: (status, about) => ({
    ...about === undefined || about === null
      ? ERRORS[status] ?? (status < 500 ? INVALID : BROKEN)
      : CONTENT_ERRORS[about],
    param: null,
    code: null,
  }),
};

/** Stop reasons, by the reason of an incomplete response. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  max_output_tokens: "max_tokens",
  content_filter: "refusal",
};

const INVALID = { type: "invalid_request_error", message: "The request is invalid." };
const BROKEN = { type: "api_error", message: "Internal server error" };
const OVERLOADED = { type: "overloaded_error", message: "Overloaded" };

/** Errors of a status, where they are not those of all 4xx or 5xx (protocol §11). */
const ERRORS: Readonly<Record<number, typeof OVERLOADED>> = {
  401: { type: "authentication_error", message: "invalid x-api-key" },
  402: { type: "billing_error", message: "Your credit balance is too low." },
  403: { type: "permission_error", message: "Your API key has no permission for this." },
  404: { type: "not_found_error", message: "The model was not found." },
  409: { type: "conflict_error", message: "The request conflicts with another one." },
  413: { type: "request_too_large", message: "Request exceeds the maximum size" },
  429: { type: "rate_limit_error", message: "This request would exceed your rate limit." },
  503: { type: "api_error", message: "Service unavailable" },
  504: { type: "timeout_error", message: "The request timed out." },
  529: OVERLOADED,
};

const CONTENT_ERRORS: Readonly<Record<RefusedContent, typeof INVALID>> = {
  "context length": { ...INVALID, message: "prompt is too long: 200061 tokens > 200000 maximum" },
  "content policy": { ...INVALID, message: "Output blocked by content filtering policy" },
};

function ending(end: StreamEnding, { kept, all, requestId }: EndingContext): readonly JsonObject[] {
  if (end.kind !== "incomplete") {
    const type = end.code ?? OVERLOADED.type;
    const error = type === OVERLOADED.type ? OVERLOADED : { type, message: "The server had an error." };
    return [{ type: "error", error, request_id: requestId }];
  }
  const stop = all.findLast((event) => event.kind === "stop");
  return [
    ...openBlocks(kept).map((index) => ({ type: "content_block_stop", index })),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason(end.code), stop_sequence: null },
      usage: stop?.usage ?? { output_tokens: 1 },
    },
    { type: "message_stop" },
  ];
}

function stopReason(code: string | null): string {
  const reason = code ?? "max_output_tokens";
  return STOP_REASONS[reason] ?? reason;
}

/** Indexes of open blocks: a server closes them before it sends the stop reason. */
function openBlocks(events: readonly StreamEvent[]): readonly number[] {
  const open = new Set<number>();
  for (const { kind, place } of events) {
    if (place === undefined) continue;
    if (kind === "item") open.add(place);
    if (kind === "item_end") open.delete(place);
  }
  return [...open];
}

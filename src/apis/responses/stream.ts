/** The events of the Responses API and their meaning (protocol §3). */
import { eventItem } from "../../domain/item.ts";
import {
  indexMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  numberMember,
  objectMember,
  plainText,
  stringMember,
} from "../../domain/json.ts";
import {
  type DeltaEvent,
  type EndEvent,
  type ErrorEvent,
  errorEvent,
  isLastEvent,
  type IssuedItems,
  type ItemPart,
  LastEventWatch,
  type MissingPart,
  type StreamEvent,
  type StreamReader,
} from "../stream.ts";

export const responsesStream: StreamReader = {
  readEvent: readResponsesEvent,
  readDocument,
  issuedItems,
  // Whole items come again in events of their own.
  issuesNothing: (name) => name.endsWith(".delta"),
  missingIn,
  isTerminal: isLastEvent,
  watchEnd: () => new LastEventWatch(),
  mayEnd: /response\.(?:completed|failed|incomplete|error)|error|\[DONE\]/,
  // Ends the streams of some servers.
  endsWithDone: true,
};

export function readResponsesEvent(data: JsonObject, name?: string): StreamEvent {
  const type = typeof data.type === "string" ? data.type : name;
  switch (type) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      return deltaOf(data, type, "text");
    case "response.reasoning_summary_text.delta":
      return deltaOf(data, type, "summary");
    case "response.reasoning_text.delta":
      return deltaOf(data, type, "reasoning");
    case "response.output_text.annotation.added":
      return deltaOf(data, type, "hidden");
    case "response.output_item.added":
    case "response.output_item.done": {
      const whole = type === "response.output_item.done";
      return { kind: "item", data, type, place: placeOf(data), item: eventItem(data), whole };
    }
    case "response.created":
    case "response.queued":
    case "response.in_progress": {
      const response = objectMember(data, "response") ?? {};
      const begins = type === "response.created";
      return { kind: "response", data, type, response, begins, items: itemsIn(response) };
    }
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
      return endOf(data, type, objectMember(data, "response") ?? {});
    case "error":
    case "response.error":
      return errorEvent(data, type);
    case "keepalive":
      return { kind: "keepalive", data, type };
    default:
      // A gateway may send an error object with no type at all.
      if (type === undefined && data.error) return errorEvent(data, type);
      if (type?.endsWith(".delta") === true) return deltaOf(data, type, "hidden");
      return { kind: "other", data, type, place: placeOf(data), part: partOf(data) };
  }
}

function deltaOf(data: JsonObject, type: string, channel: DeltaEvent["channel"]): DeltaEvent {
  const { delta } = data;
  const text = typeof delta === "string" ? delta : null;
  return { kind: "delta", data, type, place: placeOf(data), part: partOf(data), channel, text };
}

function placeOf(data: JsonObject): number | undefined {
  return indexMember(data, "output_index");
}

/** Reads the start, a delta or the end of a part of an item. */
function partOf({ summary_index, content_index, command_index }: JsonObject): ItemPart | undefined {
  if (typeof summary_index === "number") return { name: "summary", index: summary_index };
  if (typeof content_index === "number") return { name: "content", index: content_index };
  if (typeof command_index === "number") return { name: "command", index: command_index };
  return undefined;
}

function endOf(data: JsonObject, type: string, response: JsonObject): EndEvent {
  const error = objectMember(response, "error");
  return {
    kind: "end",
    data,
    type,
    response,
    items: itemsIn(response),
    failed: statusOf(type, stringMember(response, "status")) === "failed",
    ...(error === undefined ? {} : { error }),
  };
}

/** Status of a response: that of the event's name, but `response.completed` may carry a different status. */
export function statusOf(type: string, status: string | undefined): "completed" | "incomplete" | "failed" {
  if (type === "response.failed" || status === "failed" || status === "cancelled") return "failed";
  return type === "response.incomplete" || status === "incomplete" ? "incomplete" : "completed";
}

function readDocument(document: JsonObject): EndEvent | ErrorEvent | null {
  const { object, error, output } = document;
  // Some servers leave `object` out of a response.
  const isResponse = /^response(?:\.|$)/.test(plainText(object)) || Array.isArray(output);
  if (isResponse) return endOf(document, "response.completed", document);
  return isJsonObject(error) && document.type === undefined
    ? { kind: "error", data: document, type: undefined, error }
    : null;
}

function itemsIn({ output }: JsonObject): readonly JsonValue[] {
  return Array.isArray(output) ? output : [];
}

/** The added, done and terminal copies of each item; servers encrypt each copy again (§4.1). */
function issuedItems(events: Iterable<StreamEvent>): IssuedItems {
  const items = new Map<string, { readonly place: number; readonly copies: JsonObject[] }>();
  const add = (item: JsonValue | undefined, place: number) => {
    if (!isJsonObject(item)) return;
    const key = stringMember(item, "id") ?? `#${place}`;
    const known = items.get(key);
    if (known === undefined) items.set(key, { place, copies: [item] });
    else known.copies.push(item);
  };
  let failed = false;
  for (const event of events) {
    if (event.kind === "item") add(event.item, event.place ?? items.size);
    if (event.kind === "response" || event.kind === "end") event.items.forEach(add);
    failed ||= event.kind === "error" || event.kind === "end" && event.failed;
  }
  const inOrder = [...items.values()].sort((a, b) => a.place - b.place);
  return { failed, items: inOrder.map(({ copies }) => copies), thinking: [] };
}

function missingIn(events: readonly StreamEvent[], request: JsonValue | undefined): readonly MissingPart[] {
  const last = events.findLast((event) => event.kind === "end" || event.kind === "response");
  return [
    ...(hasGap(events) ? ["events" as const] : []),
    ...(last?.kind === "end" && lacksUsage(last.response ?? {}) ? ["usage" as const] : []),
    ...(asksForBlobs(request) && last?.items.some(lacksBlob) === true ? ["encrypted_content" as const] : []),
  ];
}

/** True if `sequence_number` does not rise by one from event to event (§3.1). */
function hasGap(events: readonly StreamEvent[]): boolean {
  const numbers = events.flatMap(({ data }) => numberMember(data ?? {}, "sequence_number") ?? []);
  return numbers.some((number, index) => index > 0 && number !== (numbers[index - 1] as number) + 1);
}

/** True for a finished response without usage; false for compactions and token counts, which have no usage. */
function lacksUsage({ object = "response", status, usage }: JsonObject): boolean {
  return object === "response" && (status === "completed" || status === "incomplete") && !isJsonObject(usage);
}

function asksForBlobs(request: JsonValue | undefined): boolean {
  return isJsonObject(request) && Array.isArray(request.include) &&
    request.include.includes("reasoning.encrypted_content");
}

function lacksBlob(item: JsonValue): boolean {
  return isJsonObject(item) && item.type === "reasoning" && item.encrypted_content === undefined;
}

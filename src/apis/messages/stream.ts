/** The events of the Messages API and their meaning (protocol §10). */
import {
  indexMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import {
  type DeltaEvent,
  type EndEvent,
  type ErrorEvent,
  errorEvent,
  isLastEvent,
  type IssuedItems,
  LastEventWatch,
  type MissingPart,
  type StreamEvent,
  type StreamReader,
} from "../stream.ts";
import { isItem } from "../../domain/item.ts";
import { OpenBlock } from "./blocks.ts";

export const messagesStream: StreamReader = {
  readEvent: readMessagesEvent,
  readDocument,
  issuedItems,
  missingIn,
  isTerminal: isLastEvent,
  watchEnd: () => new LastEventWatch(),
  mayEnd: /message_stop|error/,
  endsWithDone: false,
  needsEventLines: true,
  mayRestart: true,
};

export function readMessagesEvent(data: JsonObject, name?: string): StreamEvent {
  const type = typeof data.type === "string" ? data.type : name;
  switch (type) {
    case "content_block_delta":
      return deltaOf(data, type);
    case "content_block_start":
      return { kind: "item", data, type, place: placeOf(data), item: data.content_block, whole: false };
    case "content_block_stop":
      return { kind: "item_end", data, type, place: placeOf(data) };
    case "message_start": {
      const response = objectMember(data, "message") ?? {};
      return { kind: "response", data, type, response, begins: true, items: itemsIn(response) };
    }
    case "message_delta": {
      const reason = stringMember(objectMember(data, "delta") ?? {}, "stop_reason");
      return { kind: "stop", data, type, reason, usage: objectMember(data, "usage") };
    }
    case "message_stop":
      return { kind: "end", data, type, response: undefined, items: [], failed: false };
    case "error":
      return errorEvent(data, type);
    case "ping":
      return { kind: "keepalive", data, type };
    default:
      // A gateway may send an error object with no type at all.
      return type === undefined && data.error
        ? errorEvent(data, type)
        : { kind: "other", data, type, place: placeOf(data) };
  }
}

function deltaOf(data: JsonObject, type: string): DeltaEvent {
  const place = placeOf(data);
  const { delta } = data;
  if (!isJsonObject(delta)) return { kind: "delta", data, type, place, channel: "hidden", text: null };
  const form = typeof delta.type === "string" ? delta.type : undefined;
  const text = delta.text ?? delta.thinking ?? delta.partial_json;
  return {
    kind: "delta",
    data,
    type,
    place,
    form,
    channel: form === "text_delta" ? "text" : form === "thinking_delta" ? "reasoning" : "hidden",
    text: typeof text === "string" ? text : null,
  };
}

function placeOf(data: JsonObject): number | undefined {
  return indexMember(data, "index");
}

function readDocument(document: JsonObject): EndEvent | ErrorEvent | null {
  const { type } = document;
  if (type === "error") return errorEvent(document, type);
  return type === "message"
    ? {
      kind: "end",
      data: document,
      type,
      response: document,
      items: itemsIn(document),
      failed: false,
    }
    : null;
}

function itemsIn({ content }: JsonObject): readonly JsonValue[] {
  return Array.isArray(content) ? content : [];
}

/** The thinking of the last message: a start with another id voids earlier messages. */
function issuedItems(events: Iterable<StreamEvent>): IssuedItems {
  let [blocks, newest] = [new Map<number, OpenBlock>(), -1];
  let id: string | undefined;
  let failed = false;
  const open = (block: JsonValue | undefined, place = newest + 1) => {
    if (!isItem(block)) return;
    blocks.set(place, new OpenBlock(block));
    newest = place;
  };
  for (const event of events) {
    if (event.kind === "response") {
      const started = stringMember(event.response, "id");
      if (started !== undefined && started === id) continue;
      if (id !== undefined) [blocks, newest] = [new Map(), -1];
      id = started ?? "";
    }
    if (event.kind === "response" || event.kind === "end") event.items.forEach(open);
    if (event.kind === "item") open(event.item, event.place);
    if (event.kind === "delta" && isJsonObject(event.data?.delta)) {
      blocks.get(event.place ?? newest)?.add(event.data.delta);
    }
    failed ||= event.kind === "error";
  }
  const items = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block.close());
  return {
    failed,
    items: [],
    thinking: items.filter(({ type }) => type === "thinking" || type === "redacted_thinking"),
    blocks: items,
  };
}

function missingIn(events: readonly StreamEvent[]): readonly MissingPart[] {
  const last = events.findLast((event) => event.kind === "stop" || event.kind === "end" && event.response);
  if (last?.kind === "stop") return last.usage === undefined ? ["usage"] : [];
  return last?.kind === "end" && !isJsonObject(last.response?.usage) ? ["usage"] : [];
}

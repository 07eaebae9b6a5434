import type { JsonObject } from "../../../src/domain/json.ts";
import type { Delivery } from "../serving.ts";

const encoder = new TextEncoder();

/** The bytes of an event stream; each object padded before its last brace, as the API does (protocol §10). */
export function encodeMessagesEvents(
  events: readonly JsonObject[],
  delivery: Delivery = {},
): Uint8Array<ArrayBuffer> {
  const text = events.map((event, index) => {
    const json = JSON.stringify(event);
    const padding = " ".repeat(index * 7 % 11);
    return `event: ${event.type}\ndata: ${json.slice(0, -1)}${padding}}\n\n`;
  }).join("");
  return encoder.encode(text.replaceAll("\n", delivery.lineEnd ?? "\n"));
}

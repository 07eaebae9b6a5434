import type { JsonObject } from "../../../src/domain/json.ts";
import type { Dialect } from "./dialect.ts";
import type { StreamOptions } from "./script.ts";

const encoder = new TextEncoder();

/** The bytes of an event stream. */
export function encodeEvents(
  events: readonly JsonObject[],
  dialect: Dialect,
  options: StreamOptions,
): Uint8Array<ArrayBuffer> {
  const comments = options.noise?.includes("comments") === true;
  const blocks = events.map((event) => {
    const name = dialect.eventLines ? `event: ${event.type}\n` : "";
    return `${comments ? ": still here\n\n" : ""}${name}data: ${JSON.stringify(event)}\n\n`;
  });
  const opening = dialect.opening === undefined ? "" : `: ${dialect.opening}\n\n`;
  const ended = options.end === undefined || !["cut", "reset", "stall"].includes(options.end.kind);
  const text = `${opening}${blocks.join("")}${dialect.done && ended ? "data: [DONE]\n\n" : ""}`;
  return encoder.encode(text.replaceAll("\n", options.delivery?.lineEnd ?? "\n"));
}

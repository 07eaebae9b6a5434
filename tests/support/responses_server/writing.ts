import type { JsonObject } from "../../../src/domain/json.ts";
import type { Dialect } from "./dialect.ts";
import type { StreamOptions } from "./script.ts";

const encoder = new TextEncoder();
const RESET_AFTER_MS = 20;

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

/** `bytes` in writes of at most `size` bytes. */
export function splitBytes(bytes: Uint8Array<ArrayBuffer>, size = 16 * 1024): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

/** How a body is written, and what comes after its last byte. */
export interface BodyOptions {
  readonly delayMs?: number;
  readonly then: "close" | "reset" | "stall";
  /** Ends stalls and delays when the server stops. */
  readonly stopped: AbortSignal;
}

/** A response body that writes `chunks` one by one, each when the one before was taken. */
export function bodyOf(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  { delayMs, then, stopped }: BodyOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const canceled = new AbortController();
  const ended = AbortSignal.any([stopped, canceled.signal]);
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      if (delayMs !== undefined) await pause(delayMs, ended);
      const chunk = chunks[next++];
      if (chunk !== undefined) return controller.enqueue(chunk);
      if (then === "reset") {
        // Otherwise the break can overtake what was written before it.
        await pause(RESET_AFTER_MS, ended);
        return controller.error(new Error("scripted reset"));
      }
      if (then === "stall") await pause(Infinity, ended);
      if (!canceled.signal.aborted) controller.close();
    },
    cancel() {
      canceled.abort();
    },
  }, { highWaterMark: 0 });
}

/** Resolves after `milliseconds`, or at once when `signal` aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = Number.isFinite(milliseconds) ? setTimeout(resolve, milliseconds) : undefined;
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

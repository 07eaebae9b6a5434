/** Requests and answers of the benches. */
import { responseBytes } from "../tests/support/scripted_api/responses.ts";
import { answer, message, reasoning } from "../tests/support/scripted_api/responses_script.ts";
import { MODEL } from "./session.ts";

/** Path of the requests. */
export const PATH = "/v1/responses";
/** Events of an answer. */
export const EVENTS = 300;
/** Part of the text of each answer. */
export const ANSWERED = "discounted, total";

/** A response of exactly `events` events, at least 11: a reasoning item, then a message in deltas of 12 characters. */
export function syntheticStream(events: number): Uint8Array<ArrayBuffer> {
  const text = `${ANSWERED} `.repeat(events).slice(0, 12 * (events - 10));
  return responseBytes(answer([reasoning(), message(text)]), { body: { model: MODEL } });
}

/** Body of a request as an agent sends it: instructions, a tool, and prompt number `index`. */
export function requestBody(index: number): string {
  const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const tool = {
    type: "function",
    name: "read_file",
    description: "Reads a file",
    parameters,
    strict: false,
  };
  const instructions = "You are an engineer who works in a terminal. ".repeat(20);
  const input = [{ role: "user", content: `Go ${index}` }];
  return JSON.stringify({ model: MODEL, instructions, tools: [tool], input, stream: true, store: false });
}

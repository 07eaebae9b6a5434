/** Streams of both APIs, as servers send them. */
import type { Json } from "../../support/files.ts";

/** Events as a stream; texts are the data of an event. */
export function streamOf(events: readonly Json[], isNamed = false): string {
  return events.map((event) => {
    const name = isNamed && typeof event !== "string" ? `event: ${event.type}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  }).join("");
}

/** The stream of a response with these items; `members` are added to the finished response. */
export function responseStream(items: readonly Json[], members: Json = {}): string {
  const begun = {
    ...{ id: "resp_1", object: "response", created_at: 1795292280, status: "in_progress", error: null },
    ...{ model: "gpt-5.6", output: [], usage: null },
  };
  const usage = {
    ...{ input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, total_tokens: 12 },
    ...{ output_tokens: 2, output_tokens_details: { reasoning_tokens: 0 } },
  };
  const response = { ...begun, status: "completed", output: items, usage, ...members };
  const events: Json[] = [
    { type: "response.created", response: begun },
    ...items.flatMap((item, output_index) =>
      ["added", "done"].map((step) => ({ type: `response.output_item.${step}`, output_index, item }))
    ),
    { type: `response.${response.status}`, response },
  ];
  return streamOf(events.map((event, sequence_number) => ({ ...event, sequence_number })), true);
}

/** The stream of a message of Claude with one text. */
export function claudeStream(text: string): string {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-opus-5-5", content: [] };
  const usage = { input_tokens: 10, output_tokens: 1 };
  return streamOf([
    { type: "message_start", message: { ...message, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ], true);
}

/** A call of a function. */
export function functionCall(call_id: string, name: string, args: Json): Json {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { type: "function_call", id: `fc_${call_id}`, call_id, name, arguments: text, status: "completed" };
}

/** A message of the model. */
export function answerText(text: string): Json {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
}

/** One answer that completes a run; more than one byte a character, for faults inside of one. */
export const PLAIN = {
  responses: responseStream([answerText("Done … so far.")]),
  messages: claudeStream("Done … so far."),
};

/** Answers of each API, and the exchanges of one synthetic conversation. */
import { type Json, sha256 } from "../../support/files.ts";
import { type GivenExchange } from "./recording_files.ts";

/** One event of a stream. */
export type Event = { readonly type: string; readonly [member: string]: Json };

/** Request of the synthetic conversation. */
export const ASKED = {
  model: "gpt-5.6",
  stream: true,
  store: false,
  include: ["reasoning.encrypted_content"],
  instructions: "Be short.",
  tools: [{ type: "function", name: "weather", parameters: { type: "object", properties: {} } }],
  input: [{ role: "user", content: "What is the weather in Oslo?" }],
} as const;

/** The events of one answer: reasoning with a summary, a message, and a call. `mark` ends every id and blob. */
export function answerEvents(
  mark: string,
  { words = ["I ", "look ", "it up."], effort = "medium" }: { words?: readonly string[]; effort?: string } =
    {},
): Event[] {
  const text = words.join("");
  const [rs, msg, fc] = [`rs_${mark}`, `msg_${mark}`, `fc_${mark}`];
  const part = { type: "summary_text", text: "**Looking it up**" };
  const summary = { item_id: rs, output_index: 0, summary_index: 0 };
  const textPart = { item_id: msg, output_index: 1, content_index: 0 };
  const reasoning = (copy: string) => ({
    id: rs,
    type: "reasoning",
    summary: [part],
    encrypted_content: `gAAAA${copy}${mark}`,
  });
  const content = (said: string) => ({ type: "output_text", annotations: [], logprobs: [], text: said });
  const message = {
    id: msg,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [content(text)],
  };
  const call = {
    id: fc,
    type: "function_call",
    status: "completed",
    call_id: `call_${mark}`,
    name: "weather",
    arguments: '{"city":"Oslo"}',
  };
  const response = (status: string, output: readonly Json[]) => ({
    id: `resp_${mark}`,
    object: "response",
    created_at: 1763756280 + mark.length,
    status,
    error: null,
    model: "gpt-5.6-2026-08-01",
    output,
    reasoning: { effort, summary: "auto" },
    usage: output.length === 0 ? null : {
      input_tokens: 58,
      output_tokens: 20 + mark.length,
      output_tokens_details: { reasoning_tokens: 12 },
      total_tokens: 78 + mark.length,
    },
  });
  const events: Event[] = [
    { type: "response.created", response: response("in_progress", []) },
    { type: "response.in_progress", response: response("in_progress", []) },
    { type: "response.output_item.added", output_index: 0, item: { ...reasoning("added"), summary: [] } },
    { type: "response.reasoning_summary_part.added", ...summary, part: { ...part, text: "" } },
    { type: "response.reasoning_summary_text.delta", ...summary, delta: part.text, obfuscation: mark },
    { type: "response.reasoning_summary_text.done", ...summary, text: part.text },
    { type: "response.reasoning_summary_part.done", ...summary, part },
    { type: "response.output_item.done", output_index: 0, item: reasoning("done") },
    {
      type: "response.output_item.added",
      output_index: 1,
      item: { ...message, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...textPart, part: content("") },
    ...words.map((delta) => ({
      type: "response.output_text.delta",
      ...textPart,
      delta,
      logprobs: [],
      obfuscation: `${mark}x`,
    })),
    { type: "response.output_text.done", ...textPart, text, logprobs: [] },
    { type: "response.content_part.done", ...textPart, part: content(text) },
    { type: "response.output_item.done", output_index: 1, item: message },
    {
      type: "response.output_item.added",
      output_index: 2,
      item: { ...call, status: "in_progress", arguments: "" },
    },
    {
      type: "response.function_call_arguments.delta",
      item_id: fc,
      output_index: 2,
      delta: call.arguments,
      obfuscation: mark,
    },
    {
      type: "response.function_call_arguments.done",
      item_id: fc,
      output_index: 2,
      arguments: call.arguments,
    },
    { type: "response.output_item.done", output_index: 2, item: call },
    { type: "response.completed", response: response("completed", [reasoning("completed"), message, call]) },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** The events as the API frames them (protocol §3.1). */
export function framed(events: readonly Event[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** An exchange whose request is known. */
export function exchange(body: Json, events: readonly Event[]): GivenExchange {
  return { request: { body, body_sha256: sha256(JSON.stringify(body)) }, body: framed(events) };
}

const HI = { model: "m", messages: [{ role: "user", content: "Hi" }] };

/** An answer that is one JSON document. */
export function document(body: Json, status = 200, path = "/v1/responses"): GivenExchange {
  return {
    request: { path, body: ASKED, ...path === "/v1/responses" && exchange(ASKED, []).request },
    response: { status, headers: { "content-type": "application/json" } },
    body: JSON.stringify(body),
  };
}

/** A stream of Chat Completions; `own` is what no two answers share. */
export function chat(
  own: string,
  ...deltas: readonly Json[]
): GivenExchange {
  const head = {
    id: `chatcmpl-${own}`,
    object: "chat.completion.chunk",
    created: own.charCodeAt(0),
    model: "m",
  };
  const chunks = [{ role: "assistant", content: "" }, ...deltas].map((
    { finish_reason = null, ...delta }: Json,
  ) => ({ ...head, choices: [{ index: 0, delta, finish_reason }], obfuscation: own }));
  const usage = { ...head, choices: [], usage: { prompt_tokens: 5, total_tokens: own.length } };
  return {
    request: { path: "/v1/chat/completions", body: HI },
    body: `${
      [...chunks, usage].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")
    }data: [DONE]\n\n`,
  };
}
/** A delta with a call of a tool. */
export const called = (id: string, name = "f") => ({
  tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: "{}" } }],
});
/** The last delta of an answer, and of one that calls a tool. */
export const [STOP, CALLS] = [{ finish_reason: "stop" }, { finish_reason: "tool_calls" }];

/** A stream of Messages; `mark` is what no two answers share. */
export function message(city: string, mark = "one", tool = "weather"): GivenExchange {
  const block = (index: number, content_block: Json, ...deltas: readonly Json[]): Event[] => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const body = framed([
    { type: "message_start", message: { id: `msg_${mark}`, type: "message", content: [] } },
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "It is " },
      { type: "thinking_delta", thinking: `${city}.` },
      { type: "signature_delta", signature: mark },
    ),
    ...block(1, { type: "text", text: "" }, { type: "text_delta", text: `In ${city}` }),
    ...block(
      2,
      { type: "tool_use", id: `toolu_${mark}`, name: tool, input: {} },
      { type: "input_json_delta", partial_json: `{"city":` },
      { type: "input_json_delta", partial_json: `"${city}"}` },
    ),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 3 },
    },
    { type: "message_stop" },
  ]);
  return { request: { path: "/v1/messages", body: ASKED }, body };
}

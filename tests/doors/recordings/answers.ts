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
  const reasoning = (copy: string) => ({
    ...{ id: rs, type: "reasoning", summary: [part], encrypted_content: `gAAAA${copy}${mark}` },
  });
  const content = (said: string) => ({ type: "output_text", annotations: [], logprobs: [], text: said });
  const message = {
    id: msg,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [content(text)],
  };
  const [name, args] = ["weather", '{"city":"Oslo"}'];
  const call = {
    ...{ id: fc, type: "function_call", status: "completed", call_id: `call_${mark}`, name, arguments: args },
  };
  const usage = { input_tokens: 58, output_tokens: 20 + mark.length, total_tokens: 78 + mark.length };
  const response = (status: string, output: readonly Json[]) => ({
    ...{ id: `resp_${mark}`, object: "response", created_at: 1763756280 + mark.length, status, error: null },
    ...{ model: "gpt-5.6-2026-08-01", output, reasoning: { effort, summary: "auto" } },
    usage: output.length === 0 ? null : { ...usage, output_tokens_details: { reasoning_tokens: 12 } },
  });
  const item = (what: string, output_index: number, item: Json) => ({
    ...{ type: `response.output_item.${what}`, output_index, item },
  });
  /** An event about a part of an item. */
  const inside = (output_index: number, type: string, more: Json) => ({
    ...{ type: `response.${type}`, item_id: [rs, msg, fc][output_index], output_index },
    ...[{ summary_index: 0 }, { content_index: 0 }, {}][output_index],
    ...more,
  });
  const events: Event[] = [
    { type: "response.created", response: response("in_progress", []) },
    { type: "response.in_progress", response: response("in_progress", []) },
    item("added", 0, { ...reasoning("added"), summary: [] }),
    inside(0, "reasoning_summary_part.added", { part: { ...part, text: "" } }),
    inside(0, "reasoning_summary_text.delta", { delta: part.text, obfuscation: mark }),
    inside(0, "reasoning_summary_text.done", { text: part.text }),
    inside(0, "reasoning_summary_part.done", { part }),
    item("done", 0, reasoning("done")),
    item("added", 1, { ...message, status: "in_progress", content: [] }),
    inside(1, "content_part.added", { part: content("") }),
    ...words.map((delta) => inside(1, "output_text.delta", { delta, logprobs: [], obfuscation: `${mark}x` })),
    inside(1, "output_text.done", { text, logprobs: [] }),
    inside(1, "content_part.done", { part: content(text) }),
    item("done", 1, message),
    item("added", 2, { ...call, status: "in_progress", arguments: "" }),
    inside(2, "function_call_arguments.delta", { delta: args, obfuscation: mark }),
    inside(2, "function_call_arguments.done", { arguments: args }),
    item("done", 2, call),
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
export function chat(own: string, ...deltas: readonly Json[]): GivenExchange {
  const head = {
    id: `chatcmpl-${own}`,
    object: "chat.completion.chunk",
    created: own.charCodeAt(0),
    model: "m",
  };
  const chunks = [{ role: "assistant", content: "" }, ...deltas].map((
    { finish_reason = null, ...delta },
  ) => ({
    ...{ ...head, choices: [{ index: 0, delta, finish_reason }], obfuscation: own },
  }));
  const usage = { ...head, choices: [], usage: { prompt_tokens: 5, total_tokens: own.length } };
  const data = [...[...chunks, usage].map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  return {
    request: { path: "/v1/chat/completions", body: HI },
    body: data.map((text) => `data: ${text}\n\n`).join(""),
  };
}
/** The last delta of an answer. */
export const STOP = { finish_reason: "stop" };

/** A stream of Messages; `mark` is what no two answers share. */
export function message(city: string, mark = "one", tool = "weather"): GivenExchange {
  const block = (index: number, content_block: Json, ...deltas: readonly Json[]): Event[] => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const use = { type: "tool_use", id: `toolu_${mark}`, name: tool, input: {} };
  const body = framed([
    { type: "message_start", message: { id: `msg_${mark}`, type: "message", content: [] } },
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      ...["It is ", `${city}.`].map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: mark },
    ),
    ...block(1, { type: "text", text: "" }, { type: "text_delta", text: `In ${city}` }),
    ...block(
      2,
      use,
      ...['{"city":', `"${city}"}`].map((partial_json) => ({ type: "input_json_delta", partial_json })),
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

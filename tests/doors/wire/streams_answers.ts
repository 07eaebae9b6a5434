/** Bytes of streams of the Responses API, as servers send them. */

/** Any member. */
// deno-lint-ignore no-explicit-any
type Json = any;

/** One event, with its number. */
export function event(type: string, sequence_number: number, members: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...members })}\n\n`;
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
  let number = 0;
  let text = event("response.created", number++, { response: begun });
  for (const [output_index, item] of items.entries()) {
    text += event("response.output_item.added", number++, { output_index, item });
    text += event("response.output_item.done", number++, { output_index, item });
  }
  const response = { ...begun, status: "completed", output: items, usage, ...members };
  return text + event(`response.${response.status}`, number, { response });
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

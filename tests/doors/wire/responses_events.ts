/** Events and items of the Responses API, as its streams hold them. */
import type { Json } from "../../support/files.ts";

export const REASONING = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" };
export const MESSAGE = {
  ...{ id: "msg_1", type: "message", role: "assistant", phase: "final_answer" },
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
export const CALL = { id: "fc_1", type: "function_call", call_id: "call_1", name: "ls", arguments: "{}" };
export const OTHER = { ...CALL, id: "fc_2", call_id: "call_2" };
export const STRANGE = { zebra: 1, type: "brand_new_call", alpha: { b: [], a: null } };

export const done = (output_index: number | undefined, item: Json) => ({
  ...{ type: "response.output_item.done", output_index, item },
});
export const added = (output_index: number, item: Json) => ({
  ...{ type: "response.output_item.added", output_index, item },
});
export const completed = (response: Json = {}) => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", ...response },
});
export const created = (id = "resp_1", model = "m") => ({
  type: "response.created",
  response: { id, model },
});
export const text = (output_index: number | undefined, delta: Json, more = {}) => ({
  ...{ type: "response.output_text.delta", output_index, delta, ...more },
});
export const summary = (summary_index: number, delta: string) => ({
  ...{ type: "response.reasoning_summary_text.delta", output_index: 0, summary_index, delta },
});
export const incomplete = (reason: string) => ({
  type: "response.incomplete",
  response: { id: "r", status: "incomplete", incomplete_details: { reason } },
});
export const limit = { code: "rate_limit_exceeded", message: "Slow down." };
export const SHOWN = {
  ...{ id: "rs_1", type: "reasoning", status: "completed", summary: [] },
  content: [{ type: "reasoning_text", text: "One word." }],
};
export const IN_SHOWN = { item_id: "rs_1", output_index: 0, content_index: 0 };
export const ALL = [SHOWN, MESSAGE, CALL];
/** A whole stream of these items, as OpenAI sends it. */
export const WHOLE: readonly Json[] = [
  { type: "response.created", response: { id: "resp_1", model: "m", created_at: 1784324967, output: [] } },
  added(0, { ...SHOWN, content: [] }),
  ...["One ", "word."].map((delta) => ({ type: "response.reasoning_text.delta", ...IN_SHOWN, delta })),
  { type: "response.reasoning_text.done", ...IN_SHOWN, text: "One word." },
  done(0, SHOWN),
  added(1, { ...MESSAGE, content: [] }),
  ...["Hel", "lo"].map((delta) => text(1, delta, { item_id: "msg_1", content_index: 0 })),
  { type: "response.output_text.done", item_id: "msg_1", output_index: 1, content_index: 0, text: "Hello" },
  done(1, MESSAGE),
  added(2, { ...CALL, arguments: "" }),
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: "{}" },
  { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 2, arguments: "{}" },
  done(2, CALL),
  completed({ model: "m", output: ALL, usage: { input_tokens: 3 } }),
];
/** Changes each member of a name, at any place. */
export const each = (name: string, change: (old: Json) => Json): Json[] =>
  JSON.parse(JSON.stringify(WHOLE), (key, value) => key === name ? change(value) : value);
export const only = (pattern: RegExp) => WHOLE.filter(({ type }) => pattern.test(type));
export const itemsIn = (events: readonly Json[]) => [
  ...new Set(events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item)),
];

/** Parts of requests and answers of the three APIs. */
import type { Json } from "../../support/files.ts";
import { framed } from "./answers.ts";

/** A message of the user. */
export const user = (content: Json, more: Json = {}): Json => ({ role: "user", content, ...more });
/** A message of the assistant. */
export const says = (content: Json): Json => ({ role: "assistant", content });
/** A request of Responses with these items. */
export const talk = (...input: readonly Json[]): Json => ({ model: "gpt-5.6", input });
/** A request of Responses with one message. */
export const ask = (content: Json, more: Json = {}): Json => ({ ...talk(user(content)), ...more });
/** A call of Responses. */
export const call = (call_id: string, more: Json = {}): Json => ({
  ...{ type: "function_call", call_id, name: "shell", arguments: "{}" },
  ...more,
});
/** The output of a call. */
export const output = (call_id: string, output: Json = "ok"): Json => ({
  ...{ type: "function_call_output", call_id, output },
});
/** A call with its output. */
export const called = (call_id: string, text: Json = "ok", args = "{}"): Json[] => [
  call(call_id, { arguments: args }),
  output(call_id, text),
];
/** A request of Messages. */
export const claude = (messages: readonly Json[], more: Json = {}): Json => ({
  ...{ model: "claude-opus-5", max_tokens: 64, messages },
  ...more,
});
/** A request of Chat Completions. */
export const chat = (messages: readonly Json[], more: Json = {}): Json => ({ model: "m", messages, ...more });

/** Copies of an item, as it is added, as it is done, and in the whole response. */
export interface Copies {
  readonly added: Json;
  readonly done: Json;
  readonly completed: Json;
}

/** A whole stream of Responses with these items. */
export function responseStream(...items: readonly (Json | Copies)[]): string {
  const all = items.map((item): Copies =>
    "done" in item ? item : { added: item, done: item, completed: item }
  );
  return framed([
    { type: "response.created", response: { id: "resp_1", output: [] } },
    ...all.flatMap(({ added, done }, output_index) => [
      { type: "response.output_item.added", output_index, item: added },
      { type: "response.output_item.done", output_index, item: done },
    ]),
    {
      type: "response.completed",
      response: { id: "resp_1", status: "completed", output: all.map(({ completed }) => completed) },
    },
  ]);
}

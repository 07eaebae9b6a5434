/** Places of a text in the requests of four APIs. */
import type { Json } from "../../../support/files.ts";

/** An API, by the members of its requests. */
export type ApiName = "responses" | "chat" | "messages" | "gemini";
/**
 * Place of a text: the only question; a question before an answer; a part before the question of one message; a message
 * before that with the question; the output of a tool; the system prompt.
 */
export type Place = "question" | "earlier" | "part" | "message" | "tool" | "system";

/** All of them. */
export const APIS: readonly ApiName[] = ["responses", "chat", "messages", "gemini"];

/** A request of a pair. */
export interface Asked {
  readonly path: string;
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Parts of the requests of one API. */
interface Shapes {
  readonly path: string;
  request(items: readonly Json[], system?: string): Json;
  user(...texts: readonly string[]): Json;
  model(text: string): Json;
  tool(output: string): readonly Json[];
}

const SHAPES: Readonly<Record<ApiName, Shapes>> = {
  responses: {
    path: "/v1/responses",
    request: (input, instructions) => ({ model: "gpt-5.6", ...instructions && { instructions }, input }),
    user: (...texts) => ({ role: "user", content: texts.map((text) => ({ type: "input_text", text })) }),
    model: (text) => ({ role: "assistant", content: [{ type: "output_text", text }] }),
    tool: (output) => [
      { type: "function_call", call_id: "call_1", name: "sh", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output },
    ],
  },
  chat: {
    path: "/v1/chat/completions",
    request: (messages, system) => ({
      model: "m-large",
      messages: [...system === undefined ? [] : [{ role: "system", content: system }], ...messages],
    }),
    user: (...texts) => ({
      role: "user",
      content: texts.length === 1 ? texts[0] : texts.map((text) => ({ type: "text", text })),
    }),
    model: (content) => ({ role: "assistant", content }),
    tool: (content) => [
      {
        ...{ role: "assistant", content: null },
        tool_calls: [{ id: "call_1", type: "function", function: { name: "sh", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content },
    ],
  },
  messages: {
    path: "/v1/messages",
    request: (messages, system) => ({
      ...{ model: "claude-opus-5", max_tokens: 64, messages },
      ...system && { system: [{ type: "text", text: system }] },
    }),
    user: (...texts) => ({ role: "user", content: texts.map((text) => ({ type: "text", text })) }),
    model: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
    tool: (content) => [
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "sh", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] },
    ],
  },
  gemini: {
    path: "/v1beta/models/gemini-3-pro:generateContent",
    request: (contents, system) => ({
      contents,
      ...system && { systemInstruction: { parts: [{ text: system }] } },
    }),
    user: (...texts) => ({ role: "user", parts: texts.map((text) => ({ text })) }),
    model: (text) => ({ role: "model", parts: [{ text }] }),
    tool: (output) => [
      { role: "model", parts: [{ functionCall: { name: "sh", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "sh", response: { output } } }] },
    ],
  },
};

/** A request with a text at a place. */
export function requestAt(api: ApiName, place: Place, text: string): Asked {
  const { path, request, user, model, tool } = SHAPES[api];
  const bodies: Readonly<Record<Place, () => Json>> = {
    question: () => request([user(text)]),
    earlier: () => request([user(text), model("Noted."), user("What else?")]),
    part: () => request([user(text, "Hello")]),
    message: () => request([user(text), user("Hello")]),
    tool: () => request([user("Look"), ...tool(text)]),
    system: () => request([user("Hello")], text),
  };
  return { path, body: bodies[place]() };
}

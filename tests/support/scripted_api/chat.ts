/** Chat Completions as a scripted server, streamed or not (protocol §15). */
import type { Json } from "../files.ts";
import { chatViolations } from "./judge.ts";
import { httpError } from "./responses_script.ts";
import {
  type Adapter,
  type ArrivedRequest,
  pieces,
  ScriptedApi,
  type ScriptedServer,
  startScriptedApi,
  type StreamAnswer,
} from "./server.ts";

/** An answer of the model. */
export interface ScriptedMessage {
  readonly text?: string;
  /** Sent as `reasoning_content`, as DeepSeek does. */
  readonly reasoning?: string;
  readonly calls?: readonly { readonly name: string; readonly args: Json }[];
}

interface StreamedCompletion extends StreamAnswer {
  readonly said: ScriptedMessage;
}

/** Starts a server on a free port of 127.0.0.1 that answers by the messages of a request; each issues the same ids. */
export function startChatServer(
  script: (messages: readonly Json[]) => ScriptedMessage,
): ScriptedServer<ArrivedRequest> {
  let calls = 0;
  const newCallId = () => `call_${String(++calls).padStart(24, "0")}`;
  const adapter: Adapter<ArrivedRequest, StreamedCompletion> = {
    path: /\/chat\/completions$/,
    keyOf: ({ authorization }) => authorization,
    headers: (number) => ({
      "x-request-id": `req_${String(number).padStart(8, "0")}`,
      "openai-version": "2020-10-01",
    }),
    sent: (arrived) => arrived,
    violations: ({ body }) => chatViolations(body),
    error: httpError,
    written: ({ said }, { number, body }) => written(said, number, body, newCallId),
    encode: (events) =>
      [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""),
  };
  return startScriptedApi(
    new ScriptedApi(
      adapter,
      ({ body }) => ({ kind: "stream", options: {}, said: script(body.messages ?? []) }),
    ),
  );
}

function written(said: ScriptedMessage, number: number, body: Json, newCallId: () => string) {
  const { text = null, reasoning, calls } = said;
  const tool_calls = calls?.map(({ name, args }) => ({
    id: newCallId(),
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = {
    ...{ role: "assistant", content: text, refusal: null },
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(tool_calls === undefined ? {} : { tool_calls }),
  };
  const finish_reason = tool_calls === undefined ? "stop" : "tool_calls";
  const head = {
    id: `chatcmpl-${String(number).padStart(29, "A")}`,
    created: 1_790_000_000 + number,
    model: `${body.model}-2026-08-06`,
    service_tier: "default",
    system_fingerprint: "fp_1",
  };
  const prompt_tokens = 10 * body.messages.length;
  const usage = {
    prompt_tokens,
    completion_tokens: 5,
    total_tokens: prompt_tokens + 5,
    prompt_tokens_details: { cached_tokens: 0 },
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason }];
  const object = "chat.completion.chunk";
  const chunks = [
    ...deltasOf(message).map((delta) => ({ index: 0, delta, logprobs: null, finish_reason: null })),
    { index: 0, delta: {}, logprobs: null, finish_reason },
  ].map((choice) => ({ ...head, object, choices: [choice], usage: null }));
  const last = body.stream_options?.include_usage === true ? [{ ...head, object, choices: [], usage }] : [];
  return { events: [...chunks, ...last], whole: { ...head, object: "chat.completion", choices, usage } };
}

/** The pieces of a message, as OpenAI cuts them: the role first, then each call with its arguments in pieces. */
function deltasOf({ content, reasoning_content = "", tool_calls = [], ...rest }: Json): Json[] {
  return [
    { ...rest, content: content === null ? null : "" },
    ...pieces(reasoning_content, 6).map((piece) => ({ reasoning_content: piece })),
    ...pieces(content ?? "", 6).map((piece) => ({ content: piece })),
    ...tool_calls.flatMap(({ id, type, function: { name, arguments: args } }: Json, index: number) => [
      { tool_calls: [{ index, id, type, function: { name, arguments: "" } }] },
      ...pieces(args, 6).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

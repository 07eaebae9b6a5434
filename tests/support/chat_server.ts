/**
 * A Chat Completions API on 127.0.0.1 for tests: answers by script, streamed or not, and checks every request by the
 * API's rules (protocol §15).
 */
import { chatRules } from "../../src/apis/chat/rules/known_good.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { arrivedRequest, listen } from "./serving.ts";

/** An answer of the model. */
export interface ScriptedMessage {
  readonly text?: string;
  /** Sent as `reasoning_content`, as DeepSeek does. */
  readonly reasoning?: string;
  readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
}

/** Decides the answer to a request by its messages. */
export type ChatScript = (messages: readonly JsonObject[]) => ScriptedMessage;

/** A running server; each issues the same ids. */
export interface ChatServer extends AsyncDisposable {
  /** For clients: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
}

/** Starts a server on a free port of 127.0.0.1. */
export function startChatServer(script: ChatScript): ChatServer {
  let [answers, calls] = [0, 0];

  const server = listen(async (incoming) => {
    const { body, path } = await arrivedRequest(incoming, answers + 1);
    const headers = {
      "x-request-id": `req_${String(++answers).padStart(8, "0")}`,
      "openai-version": "2020-10-01",
    };
    if (!path.endsWith("/chat/completions") || !isJsonObject(body)) {
      return Response.json({ error: { message: `Invalid URL (${path})` } }, { status: 404, headers });
    }
    const refusal = chatRules.newKnownGood((blob) => blob).violations(body, {}, "openai")
      .find(({ answered }) => answered);
    if (refusal !== undefined) return Response.json({ error: refusal.error }, { status: 400, headers });
    const messages = Array.isArray(body.messages) ? body.messages.filter(isJsonObject) : [];
    const said = script(messages);
    const tool_calls = said.calls?.map(({ name, args }) => ({
      id: `call_${String(++calls).padStart(24, "0")}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message = {
      role: "assistant",
      content: said.text ?? null,
      refusal: null,
      ...(said.reasoning === undefined ? {} : { reasoning_content: said.reasoning }),
      ...(tool_calls === undefined ? {} : { tool_calls }),
    };
    const finish = tool_calls === undefined ? "stop" : "tool_calls";
    const head = {
      id: `chatcmpl-${String(answers).padStart(29, "A")}`,
      created: 1_790_000_000 + answers,
      model: `${body.model}-2026-08-06`,
      service_tier: "default",
      system_fingerprint: "fp_1",
    };
    const usage = {
      prompt_tokens: 10 * messages.length,
      completion_tokens: 5,
      total_tokens: 10 * messages.length + 5,
      prompt_tokens_details: { cached_tokens: 0 },
    };
    if (body.stream !== true) {
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
      return Response.json({ ...head, object: "chat.completion", choices, usage }, { headers });
    }
    const chunks = [
      ...deltasOf(message).map((delta) => [{ index: 0, delta, logprobs: null, finish_reason: null }]),
      [{ index: 0, delta: {}, logprobs: null, finish_reason: finish }],
    ].map((choices) => ({ ...head, object: "chat.completion.chunk", choices, usage: null }));
    const asked = isJsonObject(body.stream_options) && body.stream_options.include_usage === true;
    const last = asked ? [{ ...head, object: "chat.completion.chunk", choices: [], usage }] : [];
    const text = [...chunks, ...last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    return new Response(`${text}data: [DONE]\n\n`, {
      headers: { ...headers, "content-type": "text/event-stream; charset=utf-8" },
    });
  });
  return {
    baseUrl: `${server.origin}/v1`,
    [Symbol.asyncDispose]: server.stop,
  };
}

/** The pieces of a message, as OpenAI cuts them: the role first, then each call with its arguments in pieces. */
function deltasOf({ content, reasoning_content: reasoning, tool_calls: calls = [], ...rest }: {
  readonly role: string;
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly refusal: null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: JsonObject;
  }[];
}): JsonObject[] {
  const cut = (text: string) => text.match(/[\s\S]{1,6}/gu) ?? [];
  return [
    { ...rest, content: content === null ? null : "" },
    ...cut(reasoning ?? "").map((piece) => ({ reasoning_content: piece })),
    ...cut(content ?? "").map((piece) => ({ content: piece })),
    ...calls.flatMap(({ id, type, function: { name, arguments: args } }, index) => [
      { tool_calls: [{ index, id, type, function: { name, arguments: "" } }] },
      ...cut(String(args)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

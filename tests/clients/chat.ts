/** Chat Completions as users of three packages use it: `openai`, `@ai-sdk/openai-compatible` and LangChain.js. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import type {
  ChatCompletionChunk,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { Json } from "../support/files.ts";
import { CHAT_MODEL } from "./chat_script.ts";
import { ADD, INSTRUCTIONS, PROMPT, sumOf } from "./script.ts";
import { type Change, type Client, type Mistake, type Origin, reported } from "./support.ts";

/** Fields that change no answer, as a later run of the same tests sends them. */
const NOISE = {
  user: "someone-else",
  metadata: { run: "2" },
  prompt_cache_key: "key-2",
  safety_identifier: "id-2",
} as const;

function clientAt(origin: Origin): OpenAI {
  return new OpenAI(origin === undefined ? {} : { baseURL: `${origin}/v1`, apiKey: "key-1" });
}

type Step = (
  client: OpenAI,
  body: ReturnType<typeof bodyOf>,
  change: Change,
) => Promise<{ readonly message: ChatCompletionMessage; readonly heard: unknown }>;

/** The loop over `chat.completions.stream`, with the usage. */
export const streaming = loop(async (client, body, { noise }) => {
  const heard: ChatCompletionChunk[] = [];
  const usage = noise === undefined ? { stream_options: { include_usage: true } } : {};
  const stream = client.chat.completions.stream({ ...body, ...usage });
  stream.on("chunk", (chunk) => heard.push(chunk));
  const completion = await stream.finalChatCompletion();
  const [choice] = completion.choices;
  if (choice === undefined) throw new Error("There is no choice");
  return { message: choice.message, heard: { completion, heard } };
});

/** The loop over `chat.completions.create` without a stream. */
export const creating = loop(async (client, body) => {
  const completion = await client.chat.completions.create(body);
  const [choice] = completion.choices;
  if (choice === undefined) throw new Error("There is no choice");
  return { message: choice.message, heard: completion };
});

function loop(step: Step): Client {
  return async (origin: Origin, change: Change = {}): Promise<Json> => {
    const client = clientAt(origin);
    const report: unknown[] = [];
    let messages: ChatCompletionMessageParam[] = [
      { role: "system", content: change.instructions ?? INSTRUCTIONS },
      { role: "user", content: change.prompt ?? PROMPT },
    ];
    for (;;) {
      const { message, heard } = await step(client, bodyOf(messages, change), change);
      report.push({ message, heard });
      const results = (message.tool_calls ?? []).flatMap((call): ChatCompletionMessageParam[] => {
        if (call.type !== "function") return [];
        const content = change.result ?? sumOf(call.function.arguments);
        return [{ role: "tool", tool_call_id: call.id, content }];
      });
      if (results.length === 0) return reported(report);
      messages = mistaken([...messages, sentBack(message, change), ...results], change.mistake);
    }
  };
}

/** The message with the members that the API takes; another version of a client leaves null content out. */
function sentBack(
  { content, tool_calls }: ChatCompletionMessage,
  { noise }: Change,
): ChatCompletionMessageParam {
  const calls = tool_calls === undefined ? {} : { tool_calls };
  return { role: "assistant", ...(noise !== undefined && content === null ? {} : { content }), ...calls };
}

function bodyOf(messages: ChatCompletionMessageParam[], { tool: description, noise }: Change) {
  return {
    model: CHAT_MODEL,
    messages,
    tools: [{
      type: "function" as const,
      function: { ...ADD, parameters: { ...ADD.parameters }, description: description ?? ADD.description },
    }],
    ...(noise === undefined ? {} : NOISE),
  };
}

function mistaken(messages: ChatCompletionMessageParam[], mistake: Mistake | undefined) {
  switch (mistake) {
    case "output_forgotten":
      return messages.toSpliced(messages.findIndex(({ role }) => role === "tool"), 1);
    case "call_forgotten":
      return messages.map((message) =>
        message.role === "assistant" && message.tool_calls !== undefined
          ? { ...message, tool_calls: message.tool_calls.slice(1) }
          : message
      );
    default:
      return messages;
  }
}

/** `streamText` of the AI SDK with its package for compatible servers. */
export async function aiStreamed(origin: Origin, change: Change = {}): Promise<Json> {
  const result = streamText({ ...aiCall(origin, change), onError: () => {/* thrown below */} });
  const heard: unknown[] = [];
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    heard.push(withoutClocks(part));
  }
  return reportOf(await result.steps, heard);
}

/** `generateText` of the AI SDK. */
export async function aiGenerated(origin: Origin, change: Change = {}): Promise<Json> {
  return reportOf((await generateText(aiCall(origin, change))).steps, null);
}

/** A part without what the package measured or drew at random, and how the body was framed. */
function withoutClocks(part: unknown): unknown {
  const clocks = ["performance", "timestamp", "headers"];
  const isOwn = (value: unknown) => typeof value === "string" && value.startsWith("aitxt-");
  return JSON.parse(
    JSON.stringify(part, (name, value) => clocks.includes(name) || isOwn(value) ? undefined : value),
  );
}

function reportOf(
  steps: readonly { readonly content: unknown; readonly usage: unknown; readonly finishReason: unknown }[],
  heard: unknown,
): Json {
  return reported({
    steps: steps.map(({ content, usage, finishReason }) => ({ content, usage, finishReason })),
    heard,
  });
}

function aiCall(origin: Origin, change: Change) {
  const server = createOpenAICompatible({
    name: "server",
    baseURL: `${origin}/v1`,
    apiKey: "key-1",
    includeUsage: change.noise === undefined,
  });
  return {
    model: server(CHAT_MODEL),
    system: change.instructions ?? INSTRUCTIONS,
    prompt: change.prompt ?? PROMPT,
    tools: {
      [ADD.name]: tool({
        description: change.tool ?? ADD.description,
        inputSchema: jsonSchema<{ a: number; b: number }>({
          ...ADD.parameters,
          required: [...ADD.parameters.required],
        }),
        execute: (args) => change.result ?? sumOf(JSON.stringify(args)),
      }),
    },
    stopWhen: stepCountIs(5),
    ...(change.noise === undefined ? {} : { providerOptions: { server: { user: NOISE.user } } }),
  };
}

/** A tool loop with LangChain's `stream`. */
export const chainStreamed = chained(async (model, messages) => {
  let whole: AIMessage | undefined;
  const heard: unknown[] = [];
  for await (const chunk of await model.stream(messages)) {
    heard.push(plain(chunk));
    whole = whole === undefined ? chunk : (whole as typeof chunk).concat(chunk);
  }
  if (whole === undefined) throw new Error("The stream was empty");
  return { message: whole, heard };
});

/** The same with `invoke`. */
export const chainInvoked = chained(async (model, messages) => {
  const message = await model.invoke(messages) as AIMessage;
  return { message, heard: null };
});

type Bound = ReturnType<ChatOpenAI["bindTools"]>;

function chained(
  step: (
    model: Bound,
    messages: BaseMessage[],
  ) => Promise<{ readonly message: AIMessage; readonly heard: unknown }>,
): Client {
  return async (origin: Origin, change: Change = {}): Promise<Json> => {
    const model = new ChatOpenAI({
      model: CHAT_MODEL,
      apiKey: "key-1",
      maxRetries: 0,
      streamUsage: change.noise === undefined,
      configuration: { baseURL: `${origin}/v1` },
      ...(change.noise === undefined ? {} : { user: NOISE.user, modelKwargs: { metadata: NOISE.metadata } }),
    }).bindTools([{
      type: "function",
      function: { ...ADD, parameters: { ...ADD.parameters }, description: change.tool ?? ADD.description },
    }]);
    const report: unknown[] = [];
    const messages: BaseMessage[] = [
      new SystemMessage(change.instructions ?? INSTRUCTIONS),
      new HumanMessage(change.prompt ?? PROMPT),
    ];
    for (;;) {
      const { message, heard } = await step(model, messages);
      report.push({ message: plain(message), heard });
      const calls = message.tool_calls ?? [];
      if (calls.length === 0) return reported(report);
      messages.push(message);
      for (const { id = "", args } of calls) {
        const content = change.result ?? sumOf(JSON.stringify(args));
        messages.push(new ToolMessage({ tool_call_id: id, content }));
      }
    }
  };
}

/** A message as the package's own objects have it. */
function plain(
  { id, content, tool_calls, usage_metadata, response_metadata, additional_kwargs }: AIMessage,
): unknown {
  return { id, content, tool_calls, usage_metadata, response_metadata, additional_kwargs };
}

/** The API's error in an error of any of the packages. */
export function chatError(error: unknown) {
  const { status, statusCode, message, data, type, code, param } = error as Record<string, unknown>;
  const inner = (data as { readonly error?: Json } | undefined)?.error;
  if (inner !== undefined) {
    return {
      status: statusCode,
      type: inner.type,
      code: inner.code,
      param: inner.param,
      message: String(message),
    };
  }
  if (!(error instanceof Error) || status === undefined) throw error;
  return { status, type, code, param, message: String(message) };
}

/** `ai` as its users use it: a text made in steps, whose loop and history the package keeps. */
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import type { Json } from "../support/files.ts";
import { ADD, CHAT_MODEL, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";
import { altered, type Change, type Client, type Mistake, reported, type Thrown } from "./support.ts";

type ModelAt = (origin: string) => LanguageModel;

/** The Responses API with `@ai-sdk/openai`. */
const responses: ModelAt = (origin) => createOpenAI({ baseURL: `${origin}/v1`, apiKey: "key-1" })(MODEL);

/** Chat Completions with `@ai-sdk/openai-compatible`. */
const chat: ModelAt = (origin) =>
  createOpenAICompatible({ name: "server", baseURL: `${origin}/v1`, apiKey: "key-1", includeUsage: true })(
    CHAT_MODEL,
  );

/** `streamText` and `generateText`. */
export const [streamed, generated] = [streaming(responses), generating(responses)];
export const [chatStreamed, chatGenerated] = [streaming(chat), generating(chat)];

function streaming(modelAt: ModelAt): Client {
  return async (origin, change = {}) => {
    const result = streamText({ ...callOf(modelAt(origin), change), onError: () => {/* thrown below */} });
    const heard: unknown[] = [];
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error;
      heard.push(withoutOwn(part));
    }
    const { steps, text, totalUsage } = result;
    return reportOf({ steps: await steps, text: await text, totalUsage: await totalUsage }, heard);
  };
}

function generating(modelAt: ModelAt): Client {
  return async (origin, change = {}) => reportOf(await generateText(callOf(modelAt(origin), change)), null);
}

/** A part without what the package measured or drew at random, and how the body was framed. */
function withoutOwn(part: object): unknown {
  const own = ["performance", "timestamp", "headers"];
  const isOwn = (value: unknown) => typeof value === "string" && value.startsWith("aitxt-");
  return JSON.parse(
    JSON.stringify(part, (name, value) => own.includes(name) || isOwn(value) ? undefined : value),
  );
}

interface Result {
  readonly steps: readonly {
    readonly content: unknown;
    readonly usage: unknown;
    readonly finishReason: unknown;
  }[];
  readonly text: string;
  readonly totalUsage: unknown;
}

function reportOf({ steps, text, totalUsage }: Result, heard: unknown): Json {
  const items = steps.map(({ content, usage, finishReason }) => ({ content, usage, finishReason }));
  return reported({ items, text, usage: totalUsage, heard });
}

function callOf(model: LanguageModel, change: Change) {
  const parameters = { ...ADD.parameters, required: [...ADD.parameters.required] };
  return {
    model,
    system: change.instructions ?? INSTRUCTIONS,
    prompt: change.prompt ?? PROMPT,
    tools: {
      [ADD.name]: tool({
        description: change.tool ?? ADD.description,
        inputSchema: jsonSchema<{ a: number; b: number }>(parameters),
        execute: (args) => change.result ?? sumOf(JSON.stringify(args)),
      }),
    },
    stopWhen: stepCountIs(5),
    providerOptions: { openai: { store: false } },
    prepareStep: ({ messages }: { messages: ModelMessage[] }) => ({
      messages: mistaken(messages, change.mistake),
    }),
  };
}

/** Members of a message's part that these tests use. */
interface Part {
  readonly type: string;
  readonly input?: { readonly a?: unknown };
  readonly providerOptions?: { readonly openai?: { readonly reasoningEncryptedContent?: unknown } };
}

/** Makes a mistake; a forgotten output is one that the package finds itself. */
function mistaken(messages: ModelMessage[], mistake: Mistake | undefined): ModelMessage[] {
  if (mistake === undefined) return messages;
  const change = (part: Part): Part[] => {
    const openai = part.providerOptions?.openai;
    if (mistake === "call_forgotten") return part.type === "tool-call" && part.input?.a === 1 ? [] : [part];
    if (part.type !== "reasoning" || openai === undefined) return [part];
    if (mistake === "reasoning_dropped") return [];
    const reasoningEncryptedContent = altered(String(openai.reasoningEncryptedContent));
    return [{ ...part, providerOptions: { openai: { ...openai, reasoningEncryptedContent } } }];
  };
  return messages.map((message) =>
    typeof message.content === "string"
      ? message
      : { ...message, content: (message.content as readonly Part[]).flatMap(change) } as ModelMessage
  );
}

/** Converts the package's own error; the members of the API's error are in its `data`. */
export function aiError(error: unknown): Thrown {
  if (!APICallError.isInstance(error)) throw error;
  const { error: { type, code, param } } = error.data as { readonly error: Json };
  return { status: error.statusCode, type, code, param, message: error.message };
}

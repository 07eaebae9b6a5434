/** `ai` with `@ai-sdk/openai` as its users use it: a text made in steps, whose loop and history the package keeps. */
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import type { Json } from "../support/files.ts";
import { ADD, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";
import { altered, type Change, type Mistake, type Origin, reported, type Thrown } from "./support.ts";

/** `streamText`. */
export async function streamed(origin: Origin, change: Change = {}): Promise<Json> {
  const result = streamText({ ...callOf(origin, change), onError: () => {/* thrown below */} });
  const heard: unknown[] = [];
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    heard.push(withoutClocks(part));
  }
  return reportOf(
    { steps: await result.steps, text: await result.text, totalUsage: await result.totalUsage },
    heard,
  );
}

/** `generateText`. */
export async function generated(origin: Origin, change: Change = {}): Promise<Json> {
  return reportOf(await generateText(callOf(origin, change)), null);
}

/** A part without what the package measured, and how the body was framed. */
function withoutClocks(part: object): unknown {
  return JSON.parse(
    JSON.stringify(
      part,
      (name, value) => ["performance", "timestamp", "headers"].includes(name) ? undefined : value,
    ),
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

function callOf(origin: Origin, change: Change) {
  const openai = createOpenAI(origin === undefined ? {} : { baseURL: `${origin}/v1`, apiKey: "key-1" });
  return {
    model: openai(MODEL),
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
    providerOptions: { openai: { store: false } },
    prepareStep: ({ messages }: { messages: ModelMessage[] }) => ({
      messages: mistaken(messages, change.mistake),
    }),
  };
}

function mistaken(messages: ModelMessage[], mistake: Mistake | undefined): ModelMessage[] {
  switch (mistake) {
    case undefined:
      return messages;
    case "reasoning_dropped":
      return withParts(messages, ({ type }) => type !== "reasoning");
    case "output_forgotten":
      return withParts(messages, ({ type, output }) => type !== "tool-result" || output?.value !== "3");
    case "call_forgotten":
      return withParts(messages, ({ type, input }) => type !== "tool-call" || input?.a !== 1);
    case "blob_altered":
      return structuredClone(messages).map((message) => {
        for (const { type, providerOptions } of partsOf(message)) {
          const openai = providerOptions?.openai;
          if (type !== "reasoning" || openai === undefined) continue;
          openai.reasoningEncryptedContent = altered(String(openai.reasoningEncryptedContent));
        }
        return message;
      });
  }
}

/** Members of a message's part that these tests use. */
interface Part {
  readonly type: string;
  readonly input?: { readonly a?: unknown };
  readonly output?: { readonly value?: unknown };
  readonly providerOptions?: { readonly openai?: Record<string, unknown> };
}

function partsOf({ content }: ModelMessage): readonly Part[] {
  return typeof content === "string" ? [] : content as readonly Part[];
}

function withParts(messages: ModelMessage[], keep: (part: Part) => boolean): ModelMessage[] {
  return messages.map((message) =>
    typeof message.content === "string"
      ? message
      : { ...message, content: partsOf(message).filter(keep) } as ModelMessage
  );
}

/** Converts the package's own error; the members of the API's error are in its `data`. */
export function aiError(error: unknown): Thrown {
  if (!APICallError.isInstance(error)) throw error;
  const { error: { type, code, param } } = error.data as { readonly error: Json };
  return { status: error.statusCode, type, code, param, message: error.message };
}

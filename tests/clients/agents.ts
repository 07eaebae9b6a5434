/** `@openai/agents` as its users use it: an agent with a tool, whose loop and history the runner keeps. */
import {
  Agent,
  type AgentInputItem,
  type CallModelInputFilter,
  OpenAIProvider,
  Runner,
  tool,
} from "@openai/agents";
import type { Json } from "../support/files.ts";
import { ADD, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";
import { altered, type Change, type Mistake, reported } from "./support.ts";

/** A run whose answers are streamed. */
export async function streamed(origin: string, change: Change = {}): Promise<Json> {
  const { runner, agent } = set(origin, change);
  const result = await runner.run(agent, change.prompt ?? PROMPT, { stream: true });
  const heard: unknown[] = [];
  for await (const event of result) {
    if (event.type === "raw_model_stream_event") heard.push(event.data);
  }
  await result.completed;
  return reportOf(result, heard);
}

/** A run whose answers come whole. */
export async function whole(origin: string, change: Change = {}): Promise<Json> {
  const { runner, agent } = set(origin, change);
  return reportOf(await runner.run(agent, change.prompt ?? PROMPT), null);
}

interface Result {
  readonly newItems: readonly { readonly rawItem?: unknown }[];
  readonly rawResponses: readonly unknown[];
  readonly finalOutput?: unknown;
}

function reportOf({ newItems, rawResponses, finalOutput }: Result, heard: unknown): Json {
  return reported({ items: newItems.map(({ rawItem }) => rawItem), rawResponses, text: finalOutput, heard });
}

function set(origin: string, change: Change) {
  const modelProvider = new OpenAIProvider({ baseURL: `${origin}/v1`, apiKey: "key-1" });
  const add = tool({
    name: ADD.name,
    description: change.tool ?? ADD.description,
    parameters: { ...ADD.parameters, required: [...ADD.parameters.required] },
    strict: true,
    execute: (args) => change.result ?? sumOf(JSON.stringify(args)),
  });
  const agent = new Agent({
    name: "adder",
    model: MODEL,
    instructions: change.instructions ?? INSTRUCTIONS,
    tools: [add],
    modelSettings: { store: false, providerData: { include: ["reasoning.encrypted_content"] } },
  });
  const runner = new Runner({
    modelProvider,
    // Traces would go to a host of their own.
    tracingDisabled: true,
    callModelInputFilter: filterFor(change.mistake),
  });
  return { runner, agent };
}

function filterFor(mistake: Mistake | undefined): CallModelInputFilter {
  return ({ modelData }) => ({ ...modelData, input: mistaken(modelData.input, mistake) });
}

function mistaken(input: AgentInputItem[], mistake: Mistake | undefined): AgentInputItem[] {
  switch (mistake) {
    case undefined:
      return input;
    case "reasoning_dropped":
      return input.filter(({ type }) => type !== "reasoning");
    case "output_forgotten":
      return withoutFirst(input, "function_call_result");
    case "call_forgotten":
      return withoutFirst(input, "function_call");
    case "blob_altered":
      return input.map((item) =>
        item.type === "reasoning"
          ? {
            ...item,
            providerData: {
              ...item.providerData,
              encrypted_content: altered(String(item.providerData?.encrypted_content)),
            },
          }
          : item
      );
  }
}

function withoutFirst(input: AgentInputItem[], type: string): AgentInputItem[] {
  const first = input.findIndex((item) => item.type === type);
  return first < 0 ? input : input.toSpliced(first, 1);
}

/** The `openai` package as its users use it: a tool loop that keeps the history itself, and a compaction. */
import OpenAI from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { altered, type Change, type Client, type Mistake, reported, type Thrown } from "./support.ts";
import { ADD, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";

/** The client, with all that it does by itself: retries among it. */
export const clientAt = (origin: string) => new OpenAI({ baseURL: `${origin}/v1`, apiKey: "key-1" });

/** Sends a request with the whole history; `added` are the items since the last answer. */
export type Step = (
  body: ReturnType<typeof bodyOf>,
  added: ResponseInput,
) => Promise<{ readonly response: Response; readonly heard: unknown }>;

/** The loop over `responses.create` with `stream: true`: the answer is what the last event holds. */
export const streaming = loop((origin) => async (body) => {
  const heard: ResponseStreamEvent[] = [];
  const stream = await clientAt(origin).responses.create({ ...body, stream: true });
  for await (const event of stream) heard.push(event);
  const last = heard.at(-1);
  if (last?.type !== "response.completed") throw new Error(`The stream ended with ${last?.type}`);
  return { response: last.response, heard };
});

/** The loop over `responses.stream`: the answer is what the client's own stream object puts together. */
export const accumulating = loop((origin) => async (body) => {
  const stream = clientAt(origin).responses.stream(body);
  const heard: unknown[] = [];
  for await (const event of stream) heard.push(event);
  return { response: await stream.finalResponse(), heard };
});

/** The loop over `responses.create` without a stream. */
export const creating = loop((origin) => async (body) => {
  return { response: await clientAt(origin).responses.create(body), heard: null };
});

/** A loop that ends with an answer without a call. */
export function loop(open: (origin: string, change: Change) => Step): Client {
  return async (origin, change = {}) => {
    const step = open(origin, change);
    const report: unknown[] = [];
    let input: ResponseInput = [{ role: "user", content: change.prompt ?? PROMPT }];
    let added = input;
    while (added.length > 0) {
      const { response: { output, output_text: text, usage }, heard } = await step(
        bodyOf(input, change),
        added,
      );
      report.push({ items: output, text, usage, heard });
      added = output.flatMap((item): ResponseInputItem[] => {
        if (item.type !== "function_call") return [];
        const { call_id } = item;
        return [{ type: "function_call_output", call_id, output: change.result ?? sumOf(item.arguments) }];
      });
      input = mistaken([...input, ...toResponseInputItems(output), ...added], change.mistake);
    }
    return reported(report);
  };
}

/** Body of a request. */
export function bodyOf(input: ResponseInput, { instructions, tool }: Change) {
  return {
    model: MODEL,
    store: false,
    include: ["reasoning.encrypted_content" as const],
    instructions: instructions ?? INSTRUCTIONS,
    tools: [{ type: "function", strict: true, ...ADD, description: tool ?? ADD.description } as FunctionTool],
    input,
  };
}

function mistaken(input: ResponseInput, mistake: Mistake | undefined): ResponseInput {
  switch (mistake) {
    case undefined:
      return input;
    case "reasoning_dropped":
      return input.filter(({ type }) => type !== "reasoning");
    case "output_forgotten":
      return input.toSpliced(input.findIndex(({ type }) => type === "function_call_output"), 1);
    case "call_forgotten":
      return input.toSpliced(input.findIndex(({ type }) => type === "function_call"), 1);
    case "blob_altered":
      return input.map((item) =>
        item.type === "reasoning" || item.type === "compaction"
          ? { ...item, encrypted_content: altered(item.encrypted_content ?? "") }
          : item
      );
  }
}

/** A conversation that is compacted and continues from there. */
export const compacting: Client = async (origin, change = {}) => {
  const { responses } = clientAt(origin);
  const base = { model: MODEL, store: false };
  const said: ResponseInput = [{ role: "user", content: change.prompt ?? "Remember the word heron" }];
  const first = await responses.create({ ...base, input: said });
  const whole = [...said, ...toResponseInputItems(first.output)];
  const compaction = await responses.compact({ model: MODEL, input: whole });
  const kept = mistaken(toResponseInputItems(compaction.output), change.mistake);
  const second = await responses.create({
    ...base,
    input: [...kept, { role: "user", content: "Which word?" }],
  });
  return reported([first, compaction, second]);
};

/** Message of the package's own error. */
export function openaiError(error: unknown): Thrown {
  if (!(error instanceof OpenAI.APIError)) throw error;
  const { status, type, code, param, message } = error;
  return { status, type, code, param, message };
}

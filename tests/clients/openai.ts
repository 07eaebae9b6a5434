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
import type { Json } from "../support/files.ts";
import { altered, type Change, type Mistake, type Origin, reported, type Thrown } from "./support.ts";
import { ADD, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";

/** The client, with all that it does by itself: retries among it. */
export function clientAt(origin: Origin): OpenAI {
  return new OpenAI(origin === undefined ? {} : { baseURL: `${origin}/v1`, apiKey: "key-1" });
}

type Step = (
  client: OpenAI,
  body: ReturnType<typeof bodyOf>,
) => Promise<{ response: Response; heard: unknown }>;

/** The loop over `responses.create` with `stream: true`: the answer is what the last event holds. */
export const streaming = loop(async (client, body) => {
  const heard: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.create({ ...body, stream: true })) heard.push(event);
  const last = heard.at(-1);
  if (last?.type !== "response.completed") throw new Error(`The stream ended with ${last?.type}`);
  return { response: last.response, heard };
});

/** The loop over `responses.stream`: the answer is what the client's own stream object puts together. */
export const accumulating = loop(async (client, body) => {
  const stream = client.responses.stream(body);
  const heard: unknown[] = [];
  for await (const event of stream) heard.push(event);
  return { response: await stream.finalResponse(), heard };
});

/** The loop over `responses.create` without a stream. */
export const creating = loop(async (client, body) => ({
  response: await client.responses.create(body),
  heard: null,
}));

function loop(step: Step) {
  return async (origin: Origin, change: Change = {}): Promise<Json> => {
    const client = clientAt(origin);
    const report: unknown[] = [];
    let input: ResponseInput = [{ role: "user", content: change.prompt ?? PROMPT }];
    for (;;) {
      const { response, heard } = await step(client, bodyOf(input, change));
      report.push({ items: response.output, text: response.output_text, usage: response.usage, heard });
      const results = response.output.flatMap((item): ResponseInputItem[] => {
        if (item.type !== "function_call") return [];
        return [{
          type: "function_call_output",
          call_id: item.call_id,
          output: change.result ?? sumOf(item.arguments),
        }];
      });
      if (results.length === 0) return reported(report);
      input = mistaken([...input, ...toResponseInputItems(response.output), ...results], change.mistake);
    }
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

/** Makes a mistake with a history. */
export function mistaken(input: ResponseInput, mistake: Mistake | undefined): ResponseInput {
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
        item.type === "reasoning"
          ? { ...item, encrypted_content: altered(item.encrypted_content ?? "") }
          : item
      );
  }
}

/** A conversation that is compacted and continues from there. */
export async function compacting(origin: Origin, change: Change = {}): Promise<Json> {
  const client = clientAt(origin);
  const base = { model: MODEL, store: false };
  const said: ResponseInput = [{ role: "user", content: change.prompt ?? "Remember the word heron" }];
  const first = await client.responses.create({ ...base, input: said });
  const compaction = await client.responses.compact({
    model: MODEL,
    input: [...said, ...toResponseInputItems(first.output)],
  });
  const kept = toResponseInputItems(compaction.output).map((item) =>
    change.mistake === "blob_altered" && item.type === "compaction"
      ? { ...item, encrypted_content: altered(item.encrypted_content) }
      : item
  );
  const next: ResponseInput = [...kept, { role: "user", content: "Which word?" }];
  const second = await client.responses.create({ ...base, input: next });
  return reported([first, compaction, second]);
}

/** Message of the package's own error. */
export function openaiError(error: unknown): Thrown {
  if (!(error instanceof OpenAI.APIError)) throw error;
  const { status, type, code, param, message } = error;
  return { status, type, code, param, message };
}

/**
 * `@anthropic-ai/sdk` as its users use it: a tool loop with thinking that keeps the history itself, and the package's
 * own tool runner.
 */
import Anthropic from "@anthropic-ai/sdk";
import type { Json } from "../support/files.ts";
import { ADD, INSTRUCTIONS, PROMPT, sumOf } from "./script.ts";
import { altered, type Change, type Mistake, reported, type Thrown } from "./support.ts";

/** A model whose thinking is bound to what came before it. */
const MODEL = "claude-opus-5-5";

type Messages = Anthropic.MessageParam[];

const clientAt = (origin: string) => new Anthropic({ baseURL: origin, apiKey: "key-1" });

/** The loop over `messages.stream`: the message is what the client's own stream object puts together. */
export const accumulating = loop(async (client, body) => {
  const stream = client.messages.stream(body);
  const heard: unknown[] = [];
  for await (const event of stream) heard.push(structuredClone(event));
  return { message: await stream.finalMessage(), heard };
});

/** The loop over `messages.create` without a stream. */
export const creating = loop(async (client, body) => ({
  message: await client.messages.create({ ...body, stream: false }),
  heard: null,
}));

type Step = (
  client: Anthropic,
  body: Anthropic.MessageCreateParamsNonStreaming,
) => Promise<{ message: Anthropic.Message; heard: unknown }>;

function loop(step: Step) {
  return async (origin: string, change: Change = {}): Promise<Json> => {
    const client = clientAt(origin);
    const report: unknown[] = [];
    let messages: Messages = [{ role: "user", content: change.prompt ?? PROMPT }];
    for (;;) {
      const { message, heard } = await step(client, bodyOf(messages, change));
      report.push({ content: message.content, usage: message.usage, reason: message.stop_reason, heard });
      const results = message.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
        block.type === "tool_use" ? [resultOf(block.id, block.input, change)] : []
      );
      if (results.length === 0) return reported(report);
      messages = mistaken([
        ...messages,
        { role: "assistant", content: message.content as Anthropic.ContentBlockParam[] },
        { role: "user", content: results },
      ], change.mistake);
    }
  };
}

function resultOf(tool_use_id: string, input: unknown, change: Change): Anthropic.ToolResultBlockParam {
  return { type: "tool_result", tool_use_id, content: change.result ?? sumOf(JSON.stringify(input)) };
}

function bodyOf(
  messages: Messages,
  { instructions, tool }: Change,
): Anthropic.MessageCreateParamsNonStreaming {
  const { name, description, parameters } = ADD;
  return {
    model: MODEL,
    max_tokens: 2048,
    thinking: { type: "adaptive" },
    system: instructions ?? INSTRUCTIONS,
    tools: [{
      name,
      description: tool ?? description,
      input_schema: { ...parameters, required: [...parameters.required] },
    }],
    messages,
  };
}

function mistaken(messages: Messages, mistake: Mistake | undefined): Messages {
  if (mistake === undefined) return messages;
  const change = (block: Anthropic.ContentBlockParam): Anthropic.ContentBlockParam[] => {
    switch (block.type) {
      case "thinking":
        if (mistake === "reasoning_dropped") return [];
        return [mistake === "blob_altered" ? { ...block, signature: altered(block.signature) } : block];
      case "tool_result":
        return mistake === "output_forgotten" && block.content === "3" ? [] : [block];
      case "tool_use":
        return mistake === "call_forgotten" && (block.input as { a: number }).a === 1 ? [] : [block];
      default:
        return [block];
    }
  };
  return messages.map((message) =>
    typeof message.content === "string"
      ? message
      : { ...message, content: message.content.flatMap(change) } as Anthropic.MessageParam
  );
}

/** The package's own runner of tools, streamed: each turn sends only what is new, the server holds the thread. */
export async function running(origin: string, change: Change = {}): Promise<Json> {
  const { tools, messages, ...body } = bodyOf([{ role: "user", content: change.prompt ?? PROMPT }], change);
  const runner = clientAt(origin).beta.messages.toolRunner({
    ...body,
    messages: messages as Anthropic.Beta.BetaMessageParam[],
    stream: true,
    tools: (tools as Anthropic.Tool[]).map(({ name, description, input_schema }) => ({
      type: "custom" as const,
      name,
      description: description ?? "",
      input_schema,
      parse: (input: unknown) => input,
      run: (input: unknown) => change.result ?? sumOf(JSON.stringify(input)),
    })),
  });
  const report: unknown[] = [];
  for await (const stream of runner) {
    const heard: unknown[] = [];
    for await (const event of stream) heard.push(structuredClone(event));
    const { content, usage, stop_reason } = await stream.finalMessage();
    report.push({ content, usage, reason: stop_reason, heard });
  }
  return reported(report);
}

/** Converts the package's own error; its message is the whole body. */
export function anthropicError(error: unknown): Thrown {
  if (!(error instanceof Anthropic.APIError)) throw error;
  const { error: inner } = error.error as {
    readonly error: { readonly type: string; readonly message: string };
  };
  return { status: error.status, type: inner.type, message: inner.message };
}

/** `@langchain/openai` as its users use it: a chat model with a tool, whose messages the user keeps. */
import {
  type AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
import { ADD, CHAT_MODEL, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";
import { type Client, reported, type Thrown } from "./support.ts";

type Bound = ReturnType<ChatOpenAI["bindTools"]>;
type Step = (
  model: Bound,
  messages: BaseMessage[],
) => Promise<{ readonly message: AIMessage; readonly heard: unknown }>;

const invoke: Step = async (model, messages) => ({ message: await model.invoke(messages), heard: null });

const stream: Step = async (model, messages) => {
  const chunks = await Array.fromAsync(await model.stream(messages));
  return { message: chunks.reduce((whole, chunk) => whole.concat(chunk)), heard: chunks.map(plain) };
};

/** The loop over the Responses API. */
export const invoking = loop(invoke, { model: MODEL, useResponsesApi: true, zdrEnabled: true });
/** Loops over Chat Completions. */
export const chatInvoking = loop(invoke, { model: CHAT_MODEL });
export const chatStreaming = loop(stream, { model: CHAT_MODEL });

function loop(step: Step, fields: ChatOpenAIFields): Client {
  return async (origin, change = {}) => {
    const configuration = { baseURL: `${origin}/v1` };
    const model = new ChatOpenAI({ ...fields, apiKey: "key-1", configuration }).bindTools([{
      type: "function",
      function: { ...ADD, description: change.tool ?? ADD.description },
    }]);
    const report: unknown[] = [];
    const messages: BaseMessage[] = [
      new SystemMessage(change.instructions ?? INSTRUCTIONS),
      new HumanMessage(change.prompt ?? PROMPT),
    ];
    for (;;) {
      const { message, heard } = await step(model, messages);
      report.push({ message: plain(message), heard });
      const { tool_calls: calls = [] } = message;
      if (calls.length === 0) return reported(report);
      const results = calls.map(({ id = "", args }) =>
        new ToolMessage({ tool_call_id: id, content: change.result ?? sumOf(JSON.stringify(args)) })
      );
      messages.push(message, ...results);
    }
  };
}

/** A message as the package's own objects have it. */
function plain({ id, content, tool_calls, usage_metadata, additional_kwargs }: AIMessage): unknown {
  return { id, content, tool_calls, usage_metadata, additional_kwargs };
}

/** Message of the package's own error. */
export function langchainError(error: unknown): Thrown {
  const { status, type, code, param, message } = error as Thrown;
  if (status === undefined) throw error;
  return { status, type, code, param, message };
}

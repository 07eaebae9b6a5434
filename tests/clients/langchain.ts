/** `@langchain/openai` as its users use it: a chat model with a tool, whose messages the user keeps. */
import { type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import type { Json } from "../support/files.ts";
import { ADD, INSTRUCTIONS, MODEL, PROMPT, sumOf } from "./script.ts";
import { type Change, type Origin, reported, type Thrown } from "./support.ts";

/** The loop over `invoke`. */
export async function invoking(origin: Origin, change: Change = {}): Promise<Json> {
  const model = modelAt(origin).bindTools([{
    type: "function",
    function: { ...ADD, description: change.tool ?? ADD.description },
  }]);
  const report: unknown[] = [];
  const messages: BaseMessage[] = [
    new SystemMessage(change.instructions ?? INSTRUCTIONS),
    new HumanMessage(change.prompt ?? PROMPT),
  ];
  for (;;) {
    const answer = await model.invoke(messages);
    const { content, tool_calls: calls = [], usage_metadata } = answer;
    report.push({ content, calls, usage_metadata });
    if (calls.length === 0) return reported(report);
    const results = calls.map(({ id = "", args }) =>
      new ToolMessage({ tool_call_id: id, content: change.result ?? sumOf(JSON.stringify(args)) })
    );
    messages.push(answer, ...results);
  }
}

/** The client, with all that it does by itself: retries among it. */
function modelAt(origin: Origin): ChatOpenAI {
  return new ChatOpenAI({
    model: MODEL,
    useResponsesApi: true,
    zdrEnabled: true,
    ...(origin === undefined ? {} : { apiKey: "key-1", configuration: { baseURL: `${origin}/v1` } }),
  });
}

/** Message of the package's own error. */
export function langchainError(error: unknown): Thrown {
  const { status, type, code, param, message } = error as Thrown;
  return { status, type, code, param, message };
}

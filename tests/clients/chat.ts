/** Chat Completions with the `openai` package. */
import type { ChatCompletion, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { clientAt } from "./openai.ts";
import { ADD, CHAT_MODEL, INSTRUCTIONS, PROMPT, sumOf } from "./script.ts";
import { type Change, type Client, type Mistake, reported } from "./support.ts";

type Messages = ChatCompletionMessageParam[];
type Step = (
  body: ReturnType<typeof bodyOf>,
  origin: string,
) => Promise<{ readonly completion: ChatCompletion; readonly heard: unknown }>;

/** The loop over `chat.completions.stream`, with the usage. */
export const streaming = loop(async (body, origin) => {
  const heard: unknown[] = [];
  const stream_options = { include_usage: true };
  const stream = clientAt(origin).chat.completions.stream({ ...body, stream_options });
  stream.on("chunk", (chunk) => heard.push(chunk));
  return { completion: await stream.finalChatCompletion(), heard };
});

/** The loop over `chat.completions.create` without a stream. */
export const creating = loop(async (body, origin) => {
  return { completion: await clientAt(origin).chat.completions.create(body), heard: null };
});

function loop(step: Step): Client {
  return async (origin, change = {}) => {
    const report: unknown[] = [];
    let messages: Messages = [
      { role: "system", content: change.instructions ?? INSTRUCTIONS },
      { role: "user", content: change.prompt ?? PROMPT },
    ];
    for (;;) {
      const answered = await step(bodyOf(messages, change), origin);
      report.push(answered);
      const [choice] = answered.completion.choices;
      if (choice === undefined) throw new Error("There is no choice");
      const { content, tool_calls = [] } = choice.message;
      if (tool_calls.length === 0) return reported(report);
      const results = tool_calls.flatMap((call): Messages => {
        if (call.type !== "function") return [];
        const content = change.result ?? sumOf(call.function.arguments);
        return [{ role: "tool", tool_call_id: call.id, content }];
      });
      messages = mistaken(
        [...messages, { role: "assistant", content, tool_calls }, ...results],
        change.mistake,
      );
    }
  };
}

function bodyOf(messages: Messages, { tool: description }: Change) {
  const { name, parameters } = ADD;
  const declared = { name, parameters: { ...parameters }, description: description ?? ADD.description };
  return { model: CHAT_MODEL, messages, tools: [{ type: "function" as const, function: declared }] };
}

function mistaken(messages: Messages, mistake: Mistake | undefined): Messages {
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

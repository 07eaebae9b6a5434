/** The same sums with Chat Completions: parallel calls first. */
import type { Json } from "../support/files.ts";
import { type ScriptedMessage, startChatServer } from "../support/scripted_api/chat.ts";
import { ADD, INSTRUCTIONS, PROMPT } from "./script.ts";
import type { Conversation, Mistake, Recorded, Thrown } from "./support.ts";

/** Chat Completions in three steps: by how many results it was given. */
export const chatApi = () => startChatServer(chatStep);

/** The same of a server that sends its reasoning. */
export const reasoningChatApi = () =>
  startChatServer((messages) => ({ reasoning: "Let me think it over.", ...chatStep(messages) }));

function chatStep(messages: readonly Json[]): ScriptedMessage {
  const results = messages.filter(({ role }) => role === "tool").length;
  if (results === 2) return { calls: [{ name: "add", args: { a: 3, b: 7 } }] };
  if (results > 2) return { text: "The sum is 10: 3 and 7 ✔" };
  const calls = [{ name: "add", args: { a: 1, b: 2 } }, { name: "add", args: { a: 3, b: 4 } }];
  return { text: "I will add.", calls };
}

/** Errors of the `openai` package for each mistake, in the API's words (protocol §15.6). */
export function chatRefusals({ exchanges }: Recorded): readonly (readonly [Mistake, Thrown])[] {
  const id = /call_[0-9]{24}/.exec(exchanges[0]?.text ?? "")?.[0];
  const error = (words: string, param: string): Thrown => ({
    ...{ status: 400, type: "invalid_request_error", code: null, param, message: `400 ${words}` },
  });
  return [
    [
      "output_forgotten",
      error(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
          `'tool_call_id'. The following tool_call_ids did not have response messages: ${id}`,
        "messages",
      ),
    ],
    [
      "call_forgotten",
      error(
        `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
        "messages.[3].tool_call_id",
      ),
    ],
  ];
}

/** Reports of changes. */
export const CHAT_MISSES: Conversation["misses"] = [
  [{ prompt: "Subtract" }, "messages[1].content", PROMPT, "Subtract"],
  [{ instructions: "Subtract" }, "messages[0].content", INSTRUCTIONS, "Subtract"],
  [{ tool: "Subtract" }, "tools[0].function.description", ADD.description, "Subtract"],
  [{ result: "4" }, "messages[3].content", '"3"', '"4"'],
];

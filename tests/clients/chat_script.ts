/** The same sums with Chat Completions: parallel calls first. */
import type { Json } from "../support/files.ts";
import { type ScriptedMessage, startChatServer } from "../support/scripted_api/chat.ts";
import { ADD, INSTRUCTIONS, PROMPT } from "./script.ts";
import type { Conversation, Mistake, Recorded, Thrown } from "./support.ts";

/** The model of every request; one that clients do not take for a reasoning model. */
export const CHAT_MODEL = "gpt-4o";

/** Chat Completions in three steps: by how many results it was given. */
export function chatApi() {
  return startChatServer(chatStep);
}

/** The same of a server that sends its reasoning. */
export function reasoningChatApi() {
  return startChatServer((messages) => ({ reasoning: "Let me think it over.", ...chatStep(messages) }));
}

function chatStep(messages: readonly Json[]): ScriptedMessage {
  const results = messages.filter(({ role }) => role === "tool").length;
  if (results === 0) {
    return {
      text: "I will add.",
      calls: [{ name: "add", args: { a: 1, b: 2 } }, { name: "add", args: { a: 3, b: 4 } }],
    };
  }
  if (results === 2) return { calls: [{ name: "add", args: { a: 3, b: 7 } }] };
  return { text: "The sum is 10: 3 and 7 ✔" };
}

/** The API's words for each mistake (protocol §15.6); `worded` makes of them what a client's error says. */
export function chatRefusals(
  { exchanges }: Recorded,
  worded: (message: string) => string = (words) => words,
): readonly (readonly [Mistake, Thrown])[] {
  const id = /call_[0-9]{24}/.exec(exchanges[0]?.text ?? "")?.[0];
  const error = (words: string, param: string): Thrown => ({
    status: 400,
    type: "invalid_request_error",
    code: null,
    param,
    message: worded(words),
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

/** Reports of changes; `content` is the path below the prompt's own content. */
export function chatMisses(content = ""): Conversation["misses"] {
  return [
    [{ prompt: "Subtract" }, `messages[1].content${content}`, PROMPT, "Subtract"],
    [{ instructions: "Subtract" }, "messages[0].content", INSTRUCTIONS, "Subtract"],
    [{ tool: "Subtract" }, "tools[0].function.description", ADD.description, "Subtract"],
    [{ result: "4" }, "messages[3].content", '"3"', '"4"'],
  ];
}

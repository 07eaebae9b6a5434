/**
 * The answers that make an agent work: three steps with a tool each, then a text, and a text for the next prompt.
 *
 * The position in the conversation decides, so that runs in other places get the same answers.
 *
 * @module
 */
import {
  type RecordedMessages,
  says,
  type ScriptedAnswer,
  startMessagesServer,
  text,
  thinking,
  toolUse,
} from "../support/scripted_api/messages.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  type RecordedRequest,
  type ScriptedResponse,
} from "../support/scripted_api/responses.ts";
import { startResponsesSocket } from "../support/scripted_api/socket.ts";
import { startChatServer } from "../support/scripted_api/chat.ts";
import { listen } from "../support/scripted_api/server.ts";
import type { Json } from "../support/files.ts";

/** The last text of the first prompt. */
export const FIRST_TEXT = "There is one file, and it greets.";
/** The second prompt. */
export const SECOND_PROMPT = "And now?";
/** The answer to the second prompt, which needs no tool. */
export const SECOND_TEXT = "It is still the same file.";
/** Number of requests of the two prompts. */
export const REQUESTS = 5;

/** The Responses API for Codex, over both transports: lists, prints the directory, reads a file. */
export function codexApi() {
  return startResponsesSocket({ script: codexStep });
}

function codexStep({ input }: RecordedRequest): ScriptedResponse {
  const results = input.filter(({ type }) => type === "function_call_output").length;
  const command = ["ls", "pwd", "cat greeting.txt"][results];
  if (command !== undefined) {
    return answer([reasoning(`**Step ${results + 1}**`), functionCall("exec_command", { cmd: command })]);
  }
  const isFirst = input.at(-1)?.type === "function_call_output";
  return answer([reasoning("**Enough**"), message(isFirst ? FIRST_TEXT : SECOND_TEXT)]);
}

/**
 * The Messages API for Claude Code: two calls at once, whose results it sends back in the order in which they end; then
 * reads a file by its absolute path, and prints the directory.
 */
export function claudeCodeApi() {
  return startMessagesServer({ script: claudeCodeStep });
}

/** The Chat Completions API for an agent that prints the directory with this tool. */
export function chatAgentApi(name: string, args: Json) {
  return startChatServer((messages) =>
    messages.some(({ role }) => role === "tool") ? { text: FIRST_TEXT } : { calls: [{ name, args }] }
  );
}

/** The Gemini API for an agent that prints the directory with this tool. */
export function geminiAgentApi(name: string, args: Json) {
  const server = listen(async (incoming) => {
    const isDone = (await incoming.text()).includes('"functionResponse"');
    const parts = [isDone ? { text: FIRST_TEXT } : { functionCall: { name, args } }];
    const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }];
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const event = JSON.stringify({ candidates, usageMetadata, modelVersion: "gemini-2.5-pro" });
    return new Response(`data: ${event}\n\n`, { headers: { "content-type": "text/event-stream" } });
  });
  return { baseUrl: server.origin, [Symbol.asyncDispose]: server.stop };
}

function claudeCodeStep({ blocks, text: body }: RecordedMessages): ScriptedAnswer {
  const results = blocks.filter(({ type }) => type === "tool_result").length;
  switch (results) {
    case 0:
      return says([
        thinking("First a look at the file from outside."),
        text("I will look."),
        toolUse("Bash", { command: "wc -l greeting.txt", description: "Counts the lines" }),
        toolUse("Bash", { command: "head -n 1 greeting.txt", description: "Prints the first line" }),
      ]);
    case 2: {
      // As a model does, which knows the directory from the prompt alone.
      const [, directory] = /Primary working directory: ([^\\]+)\\n/.exec(body) ?? [];
      return says([
        thinking("Now all of it."),
        toolUse("Read", { file_path: `${directory}/greeting.txt` }),
      ]);
    }
    case 3:
      return says([
        thinking("Where is it?"),
        toolUse("Bash", { command: "pwd", description: "Prints the directory" }),
      ]);
    default: {
      // A client may write a text of its own after the last result.
      const isFirst = !body.includes(SECOND_PROMPT);
      return says([thinking("That is enough."), text(isFirst ? FIRST_TEXT : SECOND_TEXT)]);
    }
  }
}

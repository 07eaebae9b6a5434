import { accumulating, anthropicError, creating, running, runningWithoutThread } from "./anthropic.ts";
import { messagesApi, messagesRefusals } from "./messages_script.ts";
import { ADD, INSTRUCTIONS, PROMPT } from "./script.ts";
import { type Conversation, conversationTests } from "./support.ts";

const MISSES: Conversation["misses"] = [
  [{ prompt: "Subtract" }, "messages[0].content", PROMPT, "Subtract"],
  [{ instructions: "Subtract" }, "system", INSTRUCTIONS, "Subtract"],
  [{ tool: "Subtract" }, "tools[0].description", ADD.description, "Subtract"],
  [{ result: "4" }, "messages[2].content[0].content", '"3"', '"4"'],
];
const WITHOUT_THINKING: Conversation["misses"][number] = [
  // The API takes a history without any of its thinking; nothing of that was recorded.
  { mistake: "reasoning_dropped" },
  "messages[1].content[0]",
  '"thinking"',
  "nothing",
];

for (
  const [name, client] of [
    ["a tool loop, streamed", accumulating],
    ["a tool loop, not streamed", creating],
  ] as const
) {
  conversationTests({
    name: `@anthropic-ai/sdk, ${name}`,
    client,
    provider: "anthropic",
    api: messagesApi,
    requests: 3,
    read: anthropicError,
    refusals: messagesRefusals,
    misses: [...MISSES, WITHOUT_THINKING],
  });
}

for (
  const [name, client, resultAt] of [
    ["its tool runner, whose thread the server holds", running, "messages[0].content[0].content"],
    ["its tool runner without a thread", runningWithoutThread, "messages[2].content[0].content"],
  ] as const
) {
  conversationTests({
    name: `@anthropic-ai/sdk, ${name}`,
    client,
    provider: "anthropic",
    api: messagesApi,
    requests: 3,
    read: anthropicError,
    misses: [...MISSES.slice(0, -1), [{ result: "4" }, resultAt, '"3"', '"4"']],
  });
}

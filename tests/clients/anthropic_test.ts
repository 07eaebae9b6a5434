import { accumulating, anthropicError, creating, running } from "./anthropic.ts";
import { messagesApi, messagesRefusals } from "./messages_script.ts";
import { ADD, INSTRUCTIONS, PROMPT } from "./script.ts";
import { type Client, type Conversation, conversationTests } from "./support.ts";

const MISSES: Conversation["misses"] = [
  [{ prompt: "Subtract" }, "messages[0].content", PROMPT, "Subtract"],
  [{ instructions: "Subtract" }, "system", INSTRUCTIONS, "Subtract"],
  [{ tool: "Subtract" }, "tools[0].description", ADD.description, "Subtract"],
  [{ result: "4" }, "messages[2].content[0].content", '"3"', '"4"'],
];
const WITHOUT_THINKING: Conversation["misses"][number] = [
  // The API takes a history without any of its thinking; nothing of that was recorded.
  { mistake: "reasoning_dropped" },
  "messages[1].content[0].type",
  '"thinking"',
  '"text"',
];

const WAYS: readonly (readonly [name: string, client: Client, mistakes: boolean])[] = [
  ["a tool loop, streamed", accumulating, true],
  ["a tool loop, not streamed", creating, true],
  ["its tool runner", running, false],
];

for (const [name, client, mistakes] of WAYS) {
  conversationTests({
    name: `@anthropic-ai/sdk, ${name}`,
    client,
    provider: "anthropic",
    api: messagesApi,
    requests: 3,
    read: anthropicError,
    // The runner keeps the history itself.
    refusals: mistakes ? messagesRefusals : () => [],
    misses: mistakes ? [...MISSES, WITHOUT_THINKING] : MISSES,
  });
}

import { accumulating, anthropicError, creating, running } from "./anthropic.ts";
import { messagesApi, messagesRefusals } from "./messages_script.ts";
import { ADD, INSTRUCTIONS, PROMPT } from "./script.ts";
import { type Conversation, conversationTests } from "./support.ts";

/** Differences that a miss reports; `turn` is the index of the turn with the results. */
const missesOf = (turn: number): Conversation["misses"] => [
  [{ prompt: "Subtract" }, "messages[0].content", PROMPT, "Subtract"],
  [{ instructions: "Subtract" }, "system", INSTRUCTIONS, "Subtract"],
  [{ tool: "Subtract" }, "tools[0].description", ADD.description, "Subtract"],
  [{ result: "4" }, `messages[${turn}].content[0].content`, '"3"', '"4"'],
];

const LOOP: Pick<Conversation, "refusals" | "misses"> = {
  refusals: messagesRefusals,
  misses: [
    ...missesOf(2),
    // The API takes a history without any of its thinking; nothing of that was recorded.
    [{ mistake: "reasoning_dropped" }, "messages[1].content[0]", '"thinking"', "nothing"],
  ],
};

const CLIENTS: readonly Pick<Conversation, "name" | "client" | "refusals" | "misses">[] = [
  { name: "a tool loop, streamed", client: accumulating, ...LOOP },
  { name: "a tool loop, not streamed", client: creating, ...LOOP },
  { name: "its tool runner, whose thread the server holds", client: running, misses: missesOf(0) },
];

for (const client of CLIENTS) {
  conversationTests({
    ...client,
    name: `@anthropic-ai/sdk, ${client.name}`,
    provider: "anthropic",
    api: messagesApi,
    read: anthropicError,
  });
}

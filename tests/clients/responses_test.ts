/** Packages over the Responses API, which hold a tool loop and its history themselves, in front of what they recorded. */
import { streamed as agentsStreamed, whole as agentsWhole } from "./agents.ts";
import { aiError, generated, streamed } from "./ai_sdk.ts";
import { invoking, langchainError } from "./langchain.ts";
import { openaiError } from "./openai.ts";
import { ADD, INSTRUCTIONS, MISSES, PROMPT, refusals, refusalsOfOpenai, responsesApi } from "./script.ts";
import { type Conversation, conversationTests } from "./support.ts";

/** Differences that a miss reports if the package sends its instructions as a message; `content` is below the prompt's. */
const missesOf = (content: string): Conversation["misses"] => [
  [{ prompt: "Subtract" }, `input[1].content${content}`, PROMPT, "Subtract"],
  [{ instructions: "Subtract" }, "input[0].content", INSTRUCTIONS, "Subtract"],
  [{ tool: "Subtract" }, "tools[0].description", ADD.description, "Subtract"],
  [{ result: "4" }, "input[6].output", '"3"', '"4"'],
];

const AGENTS = { read: openaiError, refusals: refusalsOfOpenai, misses: MISSES };
const AI: Omit<Conversation, "name" | "client" | "api"> = {
  read: aiError,
  // It sends messages without their ids; sources contradict each other about these.
  warned: 2,
  refusals: (recorded) =>
    refusals(recorded).filter(([mistake]) => mistake === "blob_altered" || mistake === "call_forgotten"),
  // It sends no ids of calls either, so that nothing demands the reasoning: the API would take it.
  misses: [...missesOf("[0].text"), [
    { mistake: "reasoning_dropped" },
    "input[2]",
    '"reasoning"',
    "nothing",
  ]],
};

const CLIENTS: readonly Omit<Conversation, "api">[] = [
  { name: "@openai/agents, a streamed run", client: agentsStreamed, ...AGENTS },
  { name: "@openai/agents, a run", client: agentsWhole, ...AGENTS },
  { name: "ai with @ai-sdk/openai, streamText", client: streamed, ...AI },
  { name: "ai with @ai-sdk/openai, generateText", client: generated, ...AI },
  // It sends messages without their ids as well.
  { name: "@langchain/openai", client: invoking, read: langchainError, warned: 2, misses: missesOf("") },
];

for (const client of CLIENTS) conversationTests({ ...client, api: responsesApi });

/** Clients of Chat Completions in front of what they recorded. */
import { aiError, chatGenerated, chatStreamed } from "./ai_sdk.ts";
import { creating, streaming } from "./chat.ts";
import { CHAT_MISSES, chatApi, chatRefusals, reasoningChatApi } from "./chat_script.ts";
import { chatInvoking, chatStreaming, langchainError } from "./langchain.ts";
import { openaiError } from "./openai.ts";
import { type Conversation, conversationTests } from "./support.ts";

const OPENAI = { api: chatApi, read: openaiError, refusals: chatRefusals };
const AI = { api: reasoningChatApi, read: aiError };
const LANGCHAIN = { api: chatApi, read: langchainError };

const CLIENTS: readonly Pick<Conversation, "name" | "client" | "api" | "read" | "refusals">[] = [
  { name: "openai, chat.completions streamed", client: streaming, ...OPENAI },
  { name: "openai, chat.completions not streamed", client: creating, ...OPENAI },
  { name: "ai with @ai-sdk/openai-compatible, streamText", client: chatStreamed, ...AI },
  { name: "ai with @ai-sdk/openai-compatible, generateText", client: chatGenerated, ...AI },
  { name: "@langchain/openai, stream", client: chatStreaming, ...LANGCHAIN },
  { name: "@langchain/openai, invoke", client: chatInvoking, ...LANGCHAIN },
];

for (const client of CLIENTS) conversationTests({ ...client, misses: CHAT_MISSES });
